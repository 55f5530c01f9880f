package sqlite

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// pollPause is how often the next in line looks at the queue although nothing woke it. Where clients cannot wake each
// other, all who wait look that often.
const pollPause = 250 * time.Millisecond

// wait blocks until a claim that waits is granted, or has ended, as [driver.Followers] says. What counts is what the
// database says. A wake-up, the death of a peer and the expiry of a claim only say when to look.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	woken := make(chan struct{}, 1)
	stop := d.notifier.listen(c.ID, func() { // before the look: a wake-up that comes after it is kept
		select {
		case woken <- struct{}{}:
		default: // one is there
		}
	})
	defer stop()
	for {
		v, err := d.view(ctx, c)
		switch {
		case err != nil:
			return driver.Status{}, err
		case v.Granted:
			return v.Status, nil
		}
		if err := d.pause(ctx, woken, v); err != nil {
			return driver.Status{}, err
		}
	}
}

// A view is the state of a claim, and what to watch while nothing wakes it.
type view struct {
	driver.Status
	ahead []row         // the claims whose end may concern this one
	quiet time.Duration // for how long it may be left alone
}

// view reads the state of a claim. If it finds that a claim ahead is dead, it takes that out of the queue and reads
// again.
func (d *Driver) view(ctx context.Context, c driver.Claim) (v view, err error) {
	for {
		dead := false
		err = d.read(ctx, func(t *tx) (err error) {
			v, dead, err = t.view(c)
			return err
		})
		if err == nil && dead {
			err = d.write(ctx, func(t *tx) error { return t.clear(c, v.ahead) })
		}
		if err != nil || !dead {
			return v, err
		}
	}
}

func (t *tx) view(c driver.Claim) (v view, dead bool, err error) {
	r, err := t.find(c)
	if err != nil {
		return v, false, err
	}
	v.quiet = r.deadline - t.now
	v.Status = driver.Status{Token: r.Token, Granted: r.granted, TTL: r.TTL, Revoked: r.revoked}
	behind, err := t.first(claimBehind, []byte(r.Name), int64(r.Token), int64(t.now))
	if err != nil {
		return v, false, err
	}
	v.Contended = behind != nil
	if r.granted {
		return v, false, nil
	}
	if v.ahead, err = t.ahead(*r); err != nil {
		return v, false, err
	}
	dead = len(v.ahead) == 0 // then the claim is granted as soon as somebody writes
	for _, a := range v.ahead {
		dead = dead || !t.isAlive(a)
		v.quiet = min(v.quiet, a.deadline-t.now)
	}
	if !canWake || len(v.ahead) > 0 && v.ahead[0].granted {
		v.quiet = min(v.quiet, pollPause+rand.N(pollPause))
	}
	return v, dead, nil
}

// find returns a live claim under its token, or [driver.ErrGone].
func (t *tx) find(c driver.Claim) (*row, error) {
	r, err := t.first(findClaim, []byte(c.Name), c.ID)
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.deadline <= t.now || c.Token != 0 && c.Token != r.Token:
		return nil, driver.ErrGone
	}
	return r, nil
}

// ahead returns the claims whose end may concern one that waits. For the next in line these are all granted claims;
// for any other it is the claim just ahead, so that each death wakes one waiter and not all.
func (t *tx) ahead(r row) ([]row, error) {
	last, err := t.first(claimAhead, []byte(r.Name), int64(r.Token))
	switch {
	case err != nil || last == nil:
		return nil, err
	case !last.granted:
		return []row{*last}, nil
	}
	var granted []row
	err = t.rows(queueOf, []any{[]byte(r.Name)}, func(r row) bool {
		if r.granted {
			granted = append(granted, r)
		}
		return r.granted
	})
	return granted, err
}

// clear takes the dead ones among some claims out of their queue, and grants what that makes grantable.
func (t *tx) clear(c driver.Claim, some []row) error {
	for _, s := range some {
		r, err := t.first(findClaim, []byte(s.Name), s.ID)
		if err == nil && r != nil && !t.isAlive(*r) {
			err = t.end(*r, false)
		}
		if err != nil {
			return err
		}
	}
	_, err := t.settle(c.Name, nil)
	return err
}

// pause returns when it is time to look again.
func (d *Driver) pause(ctx context.Context, woken <-chan struct{}, v view) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(v.quiet)
	defer timer.Stop()
	select {
	case <-woken:
	case <-d.client.watch(ctx, v.clients(d.client.id)):
	case <-timer.C:
	case <-d.conn.life.Done():
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// clients are those whose death would end a claim that is watched, without this one.
func (v view) clients(own string) []string {
	var ids []string
	seen := map[string]bool{own: true}
	for _, r := range v.ahead {
		if !r.Detached && !seen[r.client] {
			seen[r.client] = true
			ids = append(ids, r.client)
		}
	}
	return ids
}
