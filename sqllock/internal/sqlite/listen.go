package sqlite

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// listen has moved called when a granted claim may have moved, as [driver.Followers] says. Where clients cannot wake
// each other, it looks now and then until it has.
func (d *Driver) listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	stop = d.notifier.listen(c.ID, moved)
	has, err := d.hasMoved(ctx, c)
	switch {
	case err != nil:
		stop()
		return nil, err
	case has:
		moved()
	case !canWake:
		return d.poll(c, moved, stop), nil
	}
	return stop, nil
}

// hasMoved reports whether a granted claim was revoked, or has ended.
func (d *Driver) hasMoved(ctx context.Context, c driver.Claim) (moved bool, err error) {
	err = d.transact(ctx, func(t *tx) {
		r := t.find(c)
		moved = r != nil && r.revoked
	})
	if errors.Is(err, driver.ErrGone) {
		return true, nil
	}
	return moved, err
}

func (d *Driver) poll(c driver.Claim, moved, silence func()) (stop func()) {
	ctx, cancel := context.WithCancel(d.conn.life)
	go func() { // ends with the connection, or when nobody listens any more
		for has := false; !has && driver.Sleep(ctx, pollPause) == nil; {
			if has, _ = d.hasMoved(ctx, c); has {
				moved()
			}
		}
	}()
	return func() {
		cancel()
		silence()
	}
}
