package claims

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener].
func (d *Driver) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p, ps := d.enter(c), &d.posts
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p.listeners == nil {
		p.listeners = make(map[*func()]struct{})
	}
	p.listeners[&moved] = struct{}{}
	if len(p.news) > 0 {
		moved()
	}
	return func() {
		ps.mu.Lock()
		delete(p.listeners, &moved)
		ps.mu.Unlock()
		d.leave(p)
	}, nil
}
