package quorum

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// barredFor is how long an ID stays barred that was released before it was requested, if the claim does not say how
// long it would have lived.
const barredFor = time.Minute

// release releases the claim on all nodes, as [driver.Driver] says. It returns when a majority has answered; the others
// are followed up in the background.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	if err := d.checkRelease(ctx, c); err != nil {
		return err
	}
	if c.TTL <= 0 {
		c.TTL = min(barredFor, d.traits.MaxTTL)
	}
	cl := d.claims.find(c)
	if cl == nil {
		var err error
		if cl, err = d.adopt(ctx, c); errors.Is(err, driver.ErrGone) && !errors.Is(err, errOtherToken) {
			cl, err = d.claims.add(newClaim(c, len(d.nodes))), nil
		}
		if err != nil {
			return err
		}
	}
	return d.releaseKnown(ctx, cl, c.Token)
}

// checkRelease refuses what cannot be a claim. Its TTL does not matter.
func (d *Driver) checkRelease(ctx context.Context, c driver.Claim) error {
	c.TTL, c.Weight, c.Limit, c.Detached = d.traits.MaxTTL, 1, 1, false
	return d.check(ctx, c)
}

// releaseKnown releases a claim under a token, or under any if that is zero.
func (d *Driver) releaseKnown(ctx context.Context, cl *claim, token uint64) error {
	cl.mu.Lock()
	before, wrong := cl.state, token != 0 && token != cl.token
	released := cl.released
	cl.mu.Unlock()
	switch {
	case before == over && released && !wrong:
		return nil
	case before == over, wrong && before != asked:
		return driver.ErrGone
	}
	counts, err := d.giveBackAll(ctx, cl, before)
	if err != nil {
		return err
	}
	t, err := d.released(cl, before, counts)
	d.passTurn(ctx, t) // after the release: the next in line finds the nodes free
	return err
}

// releases counts what nodes answered to the release of a claim.
type releases struct {
	done, gone []*node
	errs       []error
}

// A release is what one node answered.
type release struct {
	from *node
	err  error
}

// wasThere reports whether the answers show that a claim was there until it was given back. One that waited was: the
// line is not on the nodes that were asked.
func (d *Driver) wasThere(before state, got releases) bool {
	return engines(got.done) >= majority(len(d.nodes)) ||
		before == waiting && engines(slices.Concat(got.done, got.gone)) > d.spare()
}

// wasGone reports whether the answers show that it had ended before.
func (d *Driver) wasGone(got releases) bool { return engines(got.gone) > d.spare() }

// released ends a claim that was given back, and says whether it was there until then. It returns the claim's place in
// the line, to be given up.
func (d *Driver) released(cl *claim, before state, got releases) (*turn, error) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	switch {
	case cl.state == over: // another release was quicker
		if cl.released {
			return nil, nil
		}
		return nil, driver.ErrGone
	case d.wasThere(before, got):
		if before == held {
			d.memory.released(cl.name, cl.contended || cl.turn != nil)
		}
		return cl.finish(true), nil
	case d.wasGone(got):
		return cl.finish(false), driver.ErrGone
	}
	errs := append(got.errs, twins(slices.Concat(got.done, got.gone))...)
	return nil, d.notEnough("too few of %d servers answered to the release", errs)
}

// giveBackAll releases the claim on all nodes, whatever is known of them, and returns when enough have answered. The
// ID of the first round is barred too: by that one the claim is known to all clients. How many answers are enough
// depends on the state of the claim before. Nobody waits for it any more.
func (d *Driver) giveBackAll(ctx context.Context, cl *claim, before state) (releases, error) {
	cl.mu.Lock()
	cl.round, cl.leaving = max(cl.round, 1), true
	cl.askNoMore()
	c, first := cl.onNode(), cl.onNode()
	first.ID = cl.id
	tokens := slices.Clone(cl.held)
	cl.mu.Unlock()
	answers := make(chan release, len(d.nodes))
	for i, n := range d.nodes {
		d.spawn(func(ctx context.Context) {
			err := d.giveBackOnce(ctx, n, c, tokens[i])
			answers <- release{n, err}
			if !hasAnswered(err) {
				d.giveBack(ctx, n, c)
			}
		})
		if first.ID != c.ID {
			d.spawn(func(ctx context.Context) { d.giveBack(ctx, n, first) })
		}
	}
	return d.countReleases(ctx, before, answers)
}

// giveBackOnce releases a claim on a node under the token that it probably has there, which is quicker, or else under
// any.
func (d *Driver) giveBackOnce(ctx context.Context, n *node, c driver.Claim, token uint64) error {
	within := d.patience(c.TTL)
	give := func(ctx context.Context, n *node) (none struct{}, err error) {
		op := driver.Op{Kind: driver.OpRelease, Claim: c}
		op.Claim.Token = token
		if err = n.do(ctx, &op, within).Err; token != 0 && errors.Is(err, driver.ErrGone) {
			op.Claim.Token = 0
			err = n.do(ctx, &op, within).Err
		}
		return none, err
	}
	if n.wasMet(knownFor) {
		_, err := give(ctx, n)
		return err
	}
	_, err := identified(ctx, n, within, give)
	return err
}

// knownFor is for how long it is known which engine a node is, without being asked again: a lock that is held for so
// short a time is given back without that.
const knownFor = time.Second

func (d *Driver) countReleases(ctx context.Context, before state, answers <-chan release) (got releases, err error) {
	for range d.nodes {
		select {
		case a := <-answers:
			switch {
			case a.err == nil:
				got.done = append(got.done, a.from)
			case errors.Is(a.err, driver.ErrGone):
				got.gone = append(got.gone, a.from)
			default:
				got.errs = append(got.errs, a.err)
			}
		case <-ctx.Done():
			return got, ctx.Err()
		case <-d.lifetime.Done():
			return got, driver.ErrClosed
		}
		if d.wasThere(before, got) || d.wasGone(got) || len(got.errs) > d.spare() {
			break
		}
	}
	return got, nil
}
