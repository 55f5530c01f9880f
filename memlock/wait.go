package memlock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Wait implements [driver.Waiter]. It also notices when the claim expires, or, for the next in line, the claim that
// blocks it.
func (d *Driver) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	for {
		news, quiet, err := d.listen(ctx, c)
		if err != nil {
			return driver.Status{}, err
		}
		alarm := time.NewTimer(quiet)
		select {
		case <-news:
			alarm.Stop()
			r := d.once(context.WithoutCancel(ctx), driver.Op{Kind: driver.OpLook, Claim: c})
			return r.Status, r.Err // what has been collected must be told
		case <-alarm.C: // the next look drops what has expired
		case <-ctx.Done():
			alarm.Stop()
			return driver.Status{}, ctx.Err()
		}
	}
}

// listen returns where news about a claim arrive, and for how long nothing that matters to it expires.
func (d *Driver) listen(ctx context.Context, c driver.Claim) (news <-chan struct{}, quiet time.Duration, err error) {
	err = d.store.use(ctx, c.Name, func(l *lock) error {
		place, ok := l.find(c)
		if !ok {
			return driver.ErrGone
		}
		r := l.records[c.ID]
		news, quiet = r.listen(), r.expires.Sub(l.now)
		if place <= l.granted {
			quiet = l.soonest.Sub(l.now)
		}
		return nil
	})
	return news, quiet, err
}

// listen returns the channel with news, and makes it for the first Wait.
func (r *record) listen() <-chan struct{} {
	if r.news == nil {
		r.news = make(chan struct{}, 1)
		if r.word {
			r.news <- struct{}{}
		}
	}
	return r.news
}
