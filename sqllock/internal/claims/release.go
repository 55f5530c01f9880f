package claims

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Release implements [driver.Driver].
func (d *Driver) Release(ctx context.Context, c driver.Claim) error {
	d.posts.forget(c.ID)
	return d.change(ctx, func(ctx context.Context, conn *conn) error {
		bells := &d.session.bells
		err := conn.done(ctx, releaseClaim, []byte(c.Name), c.ID, int64(c.Token), micros(c.TTL), bells.hanging(c.ID))
		if err == nil || isAnswer(err) {
			bells.rung(c.ID)
		}
		return err
	})
}

// Break implements [driver.Breaker].
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.change(ctx, func(ctx context.Context, conn *conn) error {
		return conn.done(ctx, breakClaim, []byte(name), id)
	})
}

// Revoke implements [driver.Revoker].
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.change(ctx, func(ctx context.Context, conn *conn) error {
		return conn.done(ctx, revokeClaim, []byte(name), id)
	})
}

// change lets f write.
func (d *Driver) change(ctx context.Context, f func(context.Context, *conn) error) error {
	return inTurn(ctx, d.session, func(ctx context.Context, conn *conn) error {
		d.sweeper.wrote.Store(true)
		return f(ctx, conn)
	})
}
