package sqlite

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements [driver.Breaker].
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
