package quorum

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// breakClaim does OpBreak: it ends the claim on all nodes that have it, and its places in line. Its holder
// may be asking the others for it: there it is barred. A holder has lost the lock once no majority is left.
func (d *Driver) breakClaim(ctx context.Context, name, id string) error {
	broken, err := askAll(ctx, d, mostPatience, func(ctx context.Context, n *node) (brokenOn, error) {
		return breakOn(ctx, n, name, id)
	})
	if err != nil {
		return err
	}
	var ended, without []*node
	var rounds []string
	waited := false
	for _, b := range broken {
		if len(b.value.held) == 0 {
			without = append(without, b.from)
		} else {
			ended, rounds = append(ended, b.from), append(rounds, b.value.held...)
		}
		waited = waited || len(b.value.waited) > 0
	}
	if engines(without) > d.spare() { // no majority can have had it
		if waited {
			return nil
		}
		return driver.ErrGone
	}
	slices.Sort(rounds)
	barred, errs := d.barOn(ctx, without, name, slices.Compact(rounds))
	if engines(append(ended, barred...)) <= d.spare() {
		return d.notEnough("too few of %d servers ended the claim", errs)
	}
	return nil
}

// barOn has nodes refuse the rounds of a claim, and returns those that do.
func (d *Driver) barOn(
	ctx context.Context, nodes []*node, name string, rounds []string,
) (barred []*node, errs []error) {
	answers := make(chan release, len(nodes))
	for _, n := range nodes {
		d.spawn(func(context.Context) {
			ctx, cancel := context.WithTimeout(ctx, mostPatience)
			defer cancel()
			var err error
			for _, id := range rounds {
				err = cmp.Or(err, d.barRound(ctx, n, driver.Claim{Name: nodeName(name), ID: id}))
			}
			answers <- release{n, err}
		})
	}
	for range nodes {
		select {
		case a := <-answers:
			if a.err != nil {
				errs = append(errs, a.err)
			} else {
				barred = append(barred, a.from)
			}
		case <-ctx.Done():
			return barred, append(errs, ctx.Err())
		case <-d.lifetime.Done():
			return barred, append(errs, driver.ErrClosed)
		}
	}
	return barred, errs
}

// barRound has a node refuse a claim, which it may have been given a moment ago.
func (d *Driver) barRound(ctx context.Context, n *node, c driver.Claim) error {
	err := n.do(ctx, &driver.Op{Kind: driver.OpBreak, Claim: c}, 0).Err
	if errors.Is(err, driver.ErrGone) {
		c.TTL = d.traits.MaxTTL
		err = n.do(ctx, &driver.Op{Kind: driver.OpRelease, Claim: c}, 0).Err
	}
	if errors.Is(err, driver.ErrGone) {
		return nil
	}
	return err
}

// A brokenOn is what was ended on a node: the IDs of claims that were granted, and of places in line.
type brokenOn struct{ held, waited []string }

// breakOn ends a claim on a node, whichever of its rounds and places is there.
func breakOn(ctx context.Context, n *node, name, id string) (b brokenOn, err error) {
	v, err := look(ctx, n, name)
	if err != nil {
		return b, err
	}
	if b.held, err = breakAny(ctx, n, nodeName(name), id, v.granted); err != nil {
		return b, err
	}
	b.waited, err = breakAny(ctx, n, turnLock(name), id, v.line)
	return b, err
}

// breakAny ends the entries that are rounds of a claim, and returns their IDs.
func breakAny(
	ctx context.Context, n *node, name, id string, entries []driver.Entry,
) (ended []string, err error) {
	for _, e := range entries {
		if !isOf(id, e.ID) {
			continue
		}
		op := driver.Op{Kind: driver.OpBreak, Claim: driver.Claim{Name: name, ID: e.ID}}
		if err := n.do(ctx, &op, 0).Err; err != nil && !errors.Is(err, driver.ErrGone) {
			return ended, err
		}
		ended = append(ended, e.ID)
	}
	return ended, nil
}
