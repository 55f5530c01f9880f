package servertables

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// release takes a claim out of its queue.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	err := d.change(ctx, c.Name, func(ctx context.Context, l *lane) error {
		if done, err := d.releaseAlone(ctx, l, c); done || err != nil {
			return err
		}
		wakeLock := l.wakeLocks.held(c.ID)
		err := l.conn.done(ctx, "release", []byte(c.Name), c.ID, int64(c.Token), micros(c.TTL), wakeLock)
		if err == nil || errors.Is(err, driver.ErrGone) {
			l.wakeLocks.released(c.ID)
		}
		return err
	})
	if err == nil || errors.Is(err, driver.ErrGone) { // only now: while that is unknown, others must hear of the claim
		d.following.forget(c)
		d.releaseElsewhere(c)
	}
	return err
}

// breakClaim ends a claim by force.
func (d *Driver) breakClaim(ctx context.Context, name, id string) error {
	return d.change(ctx, name, func(ctx context.Context, l *lane) error {
		return l.conn.done(ctx, "break", []byte(name), id)
	})
}

// revoke asks a holder to let go.
func (d *Driver) revoke(ctx context.Context, name, id string) error {
	return d.change(ctx, name, func(ctx context.Context, l *lane) error {
		return l.conn.done(ctx, "revoke", []byte(name), id)
	})
}

// change lets f write about a lock.
func (d *Driver) change(ctx context.Context, name string, f func(context.Context, *lane) error) error {
	_, err := atLock(ctx, d, name, func(ctx context.Context, l *lane) (struct{}, error) {
		d.sweeper.wrote.Store(true)
		return struct{}{}, f(ctx, l)
	})
	return err
}
