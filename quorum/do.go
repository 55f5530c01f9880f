package quorum

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// kinds are the operations that a quorum can do.
var kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpQueue, driver.OpWatch)

// Do implements [driver.Driver]. Each operation is a dialogue of its own with the nodes, on its way to each of
// which it may gather with those of others. Brief requests for claims that are held go to each node as one batch.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	if len(batch) == 1 {
		done(0, d.do(ctx, &batch[0]))
		return
	}
	var held []request
	var at []int
	var g driver.Group
	for i := range batch {
		op := &batch[i]
		if cl := d.heldNow(ctx, op); cl != nil {
			held, at = append(held, request{cl, op.Claim}), append(at, i)
			continue
		}
		g.Go(func() { done(i, d.do(ctx, op)) })
	}
	if len(held) > 0 {
		g.Go(func() {
			for k, r := range d.renew(ctx, held) {
				done(at[k], r)
			}
		})
	}
	g.Wait()
}

// heldNow returns the claim of a brief request if it is held and can be renewed without further ado, or nil.
func (d *Driver) heldNow(ctx context.Context, op *driver.Op) *claim {
	if op.Kind != driver.OpRequest || !op.Brief || d.check(ctx, op.Claim) != nil {
		return nil
	}
	cl := d.claims.find(op.Claim)
	if cl == nil || !cl.isHeld() || d.admit(cl, op) != held {
		return nil
	}
	return cl
}

// do makes one attempt at an operation.
func (d *Driver) do(ctx context.Context, op *driver.Op) (r driver.Result) {
	c := op.Claim
	if err := ctx.Err(); err != nil {
		r.Err = fmt.Errorf("%w: %w", driver.ErrUnsent, err)
		return r
	}
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = d.request(ctx, op)
	case driver.OpRelease:
		r.Err = d.release(ctx, c)
	case driver.OpBreak:
		r.Err = d.breakClaim(ctx, c.Name, c.ID)
	case driver.OpQueue:
		r.Queue, r.Err = d.queue(ctx, c.Name)
		if op.Most > 0 {
			r.Queue = r.Queue[:min(op.Most, len(r.Queue))]
		}
	case driver.OpWatch:
		r.Err = d.watch(ctx, c.Name)
	default:
		r.Err = driver.Unsupported(d.traits, op.Kind.String())
	}
	return r
}
