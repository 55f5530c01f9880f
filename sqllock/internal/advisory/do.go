package advisory

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// kinds are the operations that a server's own locks allow.
var kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpWatch)

// Do implements [driver.Driver]. Each claim has a session of its own, so there is nothing to gain from a batch.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	driver.DoEach(batch, done, func(op driver.Op) driver.Result {
		r := d.do(ctx, op)
		d.followers.Note(op, r)
		return r
	})
}

// do makes one attempt at an operation.
func (d *Driver) do(ctx context.Context, op driver.Op) (r driver.Result) {
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = d.request(ctx, op.Claim)
	case driver.OpRelease:
		r.Err = d.release(ctx, op.Claim)
	case driver.OpWatch:
		r.Err = d.followers.Watch(ctx, op.Claim.Name)
	default:
		r.Err = driver.Unsupported(d.Traits(), op.Kind.String())
	}
	return r
}

// Subscribe implements [driver.Driver]. A claim that is followed has a goroutine beside its session: see Wait.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }

var _ driver.Driver = (*Driver)(nil)
