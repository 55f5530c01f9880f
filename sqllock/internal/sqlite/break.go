package sqlite

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements [adapt.Methods].
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.write(ctx, func(t *tx) error {
		r, err := t.findLive(name, id)
		switch {
		case err != nil:
			return err
		case r == nil:
			return driver.ErrGone
		default:
			return t.remove(*r, false)
		}
	})
}

// Revoke implements [adapt.Methods].
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.write(ctx, func(t *tx) error {
		if _, err := t.settle(name, nil); err != nil {
			return err
		}
		r, err := t.findLive(name, id)
		switch {
		case err != nil:
			return err
		case r == nil || !r.granted:
			return driver.ErrGone
		}
		t.wake(*r)
		return t.exec(revokeClaim, []byte(name), int64(r.Token))
	})
}
