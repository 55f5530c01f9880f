//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [adapt.Methods] where clients can wake each other.
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	s := d.notifier.enter(c)
	stop = d.notifier.listen(c, s, moved)
	v, err := d.view(ctx, c)
	switch {
	case errors.Is(err, driver.ErrGone), err == nil && d.notifier.isNews(s, v.Status):
		moved()
	case err != nil:
		stop()
		return nil, err
	}
	return stop, nil
}

// listen has moved called whenever there may be news about the claim, until stop, which ends the subscription.
func (n *notifier) listen(c driver.Claim, s *subscription, moved func()) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	remove := s.listeners.Add(moved)
	return func() {
		n.mu.Lock()
		remove()
		n.mu.Unlock()
		n.leave(c, s, driver.Status{}, context.Canceled)
	}
}
