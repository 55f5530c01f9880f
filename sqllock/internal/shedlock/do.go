package shedlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// kinds are the operations that ShedLock's table allows.
var kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpQueue, driver.OpWatch)

// Do implements [driver.Driver]. Each operation is a dialogue of several statements, each of which commits by
// itself, so there is nothing to gain from a batch.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	driver.DoEach(batch, done, func(op driver.Op) driver.Result {
		r := d.do(ctx, op)
		d.followers.Note(op, r)
		return r
	})
}

// do makes one attempt at an operation.
func (d *Driver) do(ctx context.Context, op driver.Op) (r driver.Result) {
	c := op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = d.request(ctx, c)
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
		r.Err = d.followers.Watch(ctx, c.Name)
	default:
		r.Err = driver.Unsupported(d.Traits(), op.Kind.String())
	}
	return r
}

// Subscribe implements [driver.Driver]. A claim that waits, or is followed, is looked at now and then: see Wait.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }

var _ driver.Driver = (*Driver)(nil)
