package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Value implements [driver.ValueStore].
func (d *Driver) Value(ctx context.Context, name string) (v driver.Value, err error) {
	err = d.store.use(ctx, name, func(l *lock) error {
		if l.value.Text != "" {
			v = l.value
		}
		return nil
	})
	return v, err
}

// SetValue implements [driver.ValueStore].
func (d *Driver) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return d.store.use(ctx, c.Name, func(l *lock) error {
		if place, ok := l.find(c); !ok || place >= l.granted {
			return driver.ErrGone
		}
		write, err := v.Supersede(l.value)
		if write {
			l.value = v
		}
		return err
	})
}
