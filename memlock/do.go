package memlock

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// Do implements [driver.Driver]. A batch gains nothing in memory, so it is a loop.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	for i := range batch {
		if err := ctx.Err(); err != nil {
			done(i, driver.Result{Err: fmt.Errorf("%w: %w", driver.ErrUnsent, err)})
			continue
		}
		done(i, d.do(&batch[i]))
	}
}

// do does one operation.
func (d *Driver) do(op *driver.Op) driver.Result {
	if op.Kind == driver.OpLife {
		return driver.Result{Life: d.store.inLife()}
	}
	l := d.store.enter(op.Claim.Name)
	defer d.store.leave(op.Claim.Name, l)
	return d.apply(op, l)
}

// apply does an operation on a lock.
func (d *Driver) apply(op *driver.Op, l *lock) (r driver.Result) {
	c := &op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = d.request(op, l)
	case driver.OpPropose:
		r.Status, r.Err = l.propose(*c, op.Token)
		r.Life = d.store.inLife()
	case driver.OpRelease:
		r.Err = d.release(*c, l)
	case driver.OpBreak:
		r.Err = l.breakClaim(c.ID)
	case driver.OpRevoke:
		r.Err = l.revoke(c.ID)
	case driver.OpSetValue:
		r.Err = l.setValue(*c, op.Value)
	case driver.OpValue:
		if l.value.Text != "" {
			r.Value = l.value
		}
	case driver.OpQueue:
		r.Queue = l.entries(op.Most)
	case driver.OpWatch:
		l.watch(d)
	default:
		r.Err = driver.Unsupported(d.Traits(), op.Kind.String())
	}
	return r
}
