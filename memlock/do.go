package memlock

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// Do implements [driver.BatchDriver]. A batch gains nothing in memory, so it is a loop.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	for i, op := range batch {
		if err := ctx.Err(); err != nil {
			done(i, driver.Result{Err: fmt.Errorf("%w: %w", driver.ErrUnsent, err)})
			continue
		}
		done(i, d.do(context.WithoutCancel(ctx), op))
	}
}

// do does one operation. It does not last, so no context ends it.
func (d *Driver) do(ctx context.Context, op driver.Op) (r driver.Result) {
	c := op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = d.requestFollowed(ctx, op)
	case driver.OpPropose:
		r.Status, r.Life, r.Err = d.Vote(ctx, c, op.Token)
	case driver.OpRelease:
		r.Err = d.releaseFollowed(ctx, c)
	case driver.OpLook:
		r.Status, r.Err = d.look(ctx, c)
	case driver.OpBreak:
		r.Err = d.Break(ctx, c.Name, c.ID)
	case driver.OpRevoke:
		r.Err = d.Revoke(ctx, c.Name, c.ID)
	case driver.OpSetValue:
		r.Err = d.SetValue(ctx, c, op.Value)
	case driver.OpValue:
		r.Value, r.Err = d.Value(ctx, c.Name)
	case driver.OpQueue:
		r.Queue, r.Err = d.head(ctx, c.Name, op.Most)
	case driver.OpWatch:
		r.Err = d.tellChange(ctx, c.Name)
	case driver.OpLife:
		r.Life, r.Err = d.Life(ctx)
	default:
		r.Err = driver.Unsupported(d.Traits(), op.Kind.String())
	}
	return r
}

// head returns so many entries of a queue at most; all if most is zero.
func (d *Driver) head(ctx context.Context, name string, most int) ([]driver.Entry, error) {
	if most == 0 {
		most = driver.All
	}
	return d.Peek(ctx, name, most)
}
