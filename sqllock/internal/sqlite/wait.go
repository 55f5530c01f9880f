package sqlite

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// pollPause is how often the next in line looks at the queue although nothing woke it. Where clients cannot wake
// each other, all who wait look that often.
const pollPause = 250 * time.Millisecond

// wait blocks until a claim that waits is granted, or has ended, as [driver.Followers] says. What counts is what the
// database says. A wake-up, the death of a peer and the expiry of a claim only say when to look.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default: // one is there
		}
	}
	defer d.notifier.listen(c.ID, wake)() // before the look: a wake-up that comes after it is kept
	for {
		v, err := d.view(ctx, c)
		switch {
		case err != nil:
			return driver.Status{}, err
		case v.Granted:
			return v.Status, nil
		}
		d.pause(ctx, woken, wake, v)
	}
}

// A view is the state of a claim, and what to watch while nothing wakes it.
type view struct {
	driver.Status
	ahead []row         // the claims whose end may concern this one
	quiet time.Duration // for how long it may be left alone
}

// view reads the state of a claim, and takes dead claims ahead of it out of the queue.
func (d *Driver) view(ctx context.Context, c driver.Claim) (v view, err error) {
	err = d.transact(ctx, func(t *tx) {
		if r := t.find(c); r != nil {
			v = t.view(*r)
		}
	})
	return v, err
}

// view watches all granted claims for the next in line. For any other claim it watches the one just ahead, so that
// each death wakes one waiter and not all.
func (t *tx) view(r row) (v view) {
	if r.granted {
		v.Status, _ = t.held(r)
		return v
	}
	ahead := t.ahead(r)
	isNext := ahead == nil || ahead.granted
	if isNext {
		f := t.settle(r.Name, nil)
		v.Status, v.ahead = t.status(r, f), f.granted
	} else {
		v.ahead = []row{*ahead}
	}
	v.quiet = r.deadline - t.now
	for _, a := range v.ahead {
		v.quiet = min(v.quiet, a.deadline-t.now)
	}
	if isNext || !canWake {
		v.quiet = min(v.quiet, pollPause+rand.N(pollPause))
	}
	return v
}

// find returns a live claim under its token. If there is none the transaction ends with [driver.ErrGone].
func (t *tx) find(c driver.Claim) *row {
	r := t.first("find", []byte(c.Name), c.ID)
	if r == nil || r.deadline <= t.now || c.Token != 0 && c.Token != r.Token {
		t.fail(driver.ErrGone)
		return nil
	}
	return r
}

// ahead returns the claim just ahead of another, when those that are dead have been taken out; nil if there is none.
func (t *tx) ahead(r row) *row {
	for {
		a := t.first("ahead", []byte(r.Name), int64(r.Token))
		if a == nil || t.isAlive(*a) {
			return a
		}
		t.end(*a, false)
	}
}

// pause returns when it is time to look again, or ctx ends.
func (d *Driver) pause(ctx context.Context, woken <-chan struct{}, wake func(), v view) {
	for _, a := range v.ahead {
		if !a.Detached && a.client != d.client.id {
			defer d.notifier.listen(a.client, wake)()
			d.client.watch(a.client)
		}
	}
	timer := time.NewTimer(v.quiet)
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
	}
}
