package servertables

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// wait blocks until there is news of a claim that waits.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	news := make(chan driver.Result, 1)
	p := &followed{claim: c, tell: func(st driver.Status, err error) { news <- driver.Result{Status: st, Err: err} }}
	d.follow(p)
	defer d.following.leave(p)
	select {
	case n := <-news:
		return n.Status, n.Err
	case <-d.requests.open.Done():
		return driver.Status{}, driver.ErrClosed
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}

// listen has moved called with the news of a held claim, until stop is called.
func (d *Driver) listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	p := &followed{claim: c, held: true, tell: func(driver.Status, error) { moved() }}
	d.follow(p)
	return func() { d.following.leave(p) }, nil
}

// follow begins to follow a claim.
func (d *Driver) follow(p *followed) {
	f := &d.following
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.add(p); d.requests.open.Err() != nil {
		return
	}
	if d.attend(p); !p.held && !p.isAttended() {
		f.lookSoon()
	}
	if !f.looks {
		f.looks = true
		f.ended.Go(d.look)
	}
}

// inBackground lets f run, and Close wait for it, unless the driver is closed.
func (d *Driver) inBackground(f func()) {
	d.following.mu.Lock()
	defer d.following.mu.Unlock()
	if d.requests.open.Err() == nil {
		d.following.ended.Go(f)
	}
}
