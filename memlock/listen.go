package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener].
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	remove := func() {}
	err = d.store.use(ctx, c.Name, func(l *lock) error {
		if _, ok := l.find(c); !ok {
			moved()
			return nil
		}
		r := l.records[c.ID]
		remove = r.listeners.Add(moved)
		if r.revoked {
			moved()
		}
		return nil
	})
	return func() {
		d.store.mu.Lock()
		defer d.store.mu.Unlock()
		remove()
	}, err
}
