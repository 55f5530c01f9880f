//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener] where clients can ring each other's bells.
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p := d.posts.enter(c)
	stop = d.posts.listen(c, p, moved)
	v, err := d.view(ctx, c)
	switch {
	case errors.Is(err, driver.ErrGone), err == nil && d.posts.isNews(p, v.Status):
		moved()
	case err != nil:
		stop()
		return nil, err
	}
	return stop, nil
}

// listen has moved called whenever the claim's bell rings, until stop, which leaves the post.
func (ps *posts) listen(c driver.Claim, p *post, moved func()) (stop func()) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	remove := p.listeners.Add(moved)
	return func() {
		ps.mu.Lock()
		remove()
		ps.mu.Unlock()
		ps.leave(c, p, driver.Status{}, context.Canceled)
	}
}
