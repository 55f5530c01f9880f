package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Break implements [driver.Breaker].
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.store.use(ctx, name, func(l *lock) error {
		if _, ok := l.find(driver.Claim{ID: id}); !ok {
			return driver.ErrGone
		}
		l.take(false, id)
		return nil
	})
}

// Revoke implements [driver.Revoker].
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.store.use(ctx, name, func(l *lock) error {
		place, ok := l.find(driver.Claim{ID: id})
		if !ok || place >= l.granted {
			return driver.ErrGone
		}
		l.records[id].revoked = true
		l.tellNews(place)
		return nil
	})
}
