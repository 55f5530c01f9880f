package servertables

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener].
func (d *Driver) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p, n := d.enter(c), &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	remove := p.listeners.Add(moved)
	if !p.news.IsEmpty() {
		moved()
	}
	return func() {
		n.mu.Lock()
		remove()
		n.mu.Unlock()
		d.leave(p)
	}, nil
}
