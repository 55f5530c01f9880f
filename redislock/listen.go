package redislock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener].
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	untold, err := d.notifier.untold(ctx, c)
	if err != nil {
		return nil, explain(err)
	}
	stop, missed := d.notifier.attach(c.ID, moved)
	if untold || missed {
		moved()
	}
	return stop, nil
}

// attach has moved called whenever there is news of a claim. missed says that there is already, or that the claim has ended.
func (p *notifier) attach(id string, moved func()) (stop func(), missed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.mailboxes[id]
	if b == nil {
		return func() {}, true
	}
	remove := b.listeners.Add(moved)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		remove()
	}, b.filled
}
