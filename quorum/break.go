package quorum

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements [driver.Breaker]: it ends the claim on all nodes that have it, and its places in line. A holder has
// lost the lock once a majority has ended its claim.
func (d *Driver) Break(ctx context.Context, name, id string) error {
	broken, err := askAll(ctx, d, mostPatience, func(ctx context.Context, nd driver.Driver) (brokenOn, error) {
		return breakOn(ctx, nd, name, id)
	})
	if err != nil {
		return err
	}
	var without []*node
	waited := false
	for _, b := range broken {
		if !b.value.held {
			without = append(without, b.from)
		}
		waited = waited || b.value.waited
	}
	if engines(without) > d.spare() && !waited { // no majority can have had it
		return driver.ErrGone
	}
	return nil
}

// A brokenOn is what was ended on a node.
type brokenOn struct{ held, waited bool }

// breakOn ends a claim on a node, whichever of its rounds and places is there.
func breakOn(ctx context.Context, nd driver.Driver, name, id string) (b brokenOn, err error) {
	v, err := look(ctx, nd, name)
	if err != nil {
		return b, err
	}
	if b.held, err = breakAny(ctx, nd, nodeName(name), id, v.granted); err != nil {
		return b, err
	}
	b.waited, err = breakAny(ctx, nd, turnLock(name), id, v.line)
	return b, err
}

func breakAny(ctx context.Context, nd driver.Driver, name, id string, entries []driver.Entry) (any bool, err error) {
	for _, e := range entries {
		if _, ok := roundOf(id, e.ID); !ok {
			continue
		}
		if err := driver.Break(ctx, nd, name, e.ID); err != nil && !errors.Is(err, driver.ErrGone) {
			return any, err
		}
		any = true
	}
	return any, nil
}
