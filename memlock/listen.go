package memlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// listeners are to be called when a claim is revoked or ends.
type listeners map[*func()]struct{}

func (ls listeners) call() {
	for moved := range ls {
		(*moved)()
	}
}

// Listen implements [driver.Listener].
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	var r *record
	err = d.store.use(ctx, c.Name, func(l *lock) error {
		if _, ok := l.find(c); !ok {
			moved()
			return nil
		}
		r = l.records[c.ID]
		if r.listeners == nil {
			r.listeners = make(listeners)
		}
		r.listeners[&moved] = struct{}{}
		if r.revoked {
			moved()
		}
		return nil
	})
	return func() {
		d.store.mu.Lock()
		defer d.store.mu.Unlock()
		if r != nil {
			delete(r.listeners, &moved)
		}
	}, err
}
