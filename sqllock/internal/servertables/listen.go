package servertables

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener].
func (d *Driver) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p, ps := d.enter(c), &d.posts
	ps.mu.Lock()
	defer ps.mu.Unlock()
	remove := p.listeners.Add(moved)
	if !p.news.IsEmpty() {
		moved()
	}
	return func() {
		ps.mu.Lock()
		remove()
		ps.mu.Unlock()
		d.leave(p)
	}, nil
}
