package servertables

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// request queues a claim, or renews it. A claim that is in its queue stays there, whatever becomes of asking again.
func (d *Driver) request(ctx context.Context, c driver.Claim) (st driver.Status, err error) {
	for {
		last := st
		st, err = d.requestOnce(ctx, c, !c.Detached)
		if err != nil && last.Token != 0 && !errors.Is(err, driver.ErrGone) {
			st, err = last, nil
		} else if err == nil && !st.Granted && st.Retry == goesOn {
			c.Token = max(c.Token, st.Token)
			continue
		}
		if err == nil && c.Detached {
			d.releaseElsewhere(c) // this client may not hear of the claim's end
		}
		return st, err
	}
}

// goesOn is after how long to ask again where there are more dead claims ahead than the server takes out at a time.
// Others get their turn in between.
const goesOn = time.Microsecond

// When a request takes wake locks for its claim.
const (
	never   = iota
	waiting // unless it has the lock to itself, where its client must be told of others before it takes them
	always
)

// takesWakeLocks returns when a request takes wake locks, if it may. A client that finds most locks free does without
// those of claims that nobody waits for.
func (d *Driver) takesWakeLocks(may bool) int {
	switch {
	case !may:
		return never
	case d.findsFree():
		return waiting
	}
	return always
}

// requestOnce requests a claim, and takes wake locks for it where that is wanted and there is room.
func (d *Driver) requestOnce(ctx context.Context, c driver.Claim, wakeLocks bool) (driver.Status, error) {
	return atLock(ctx, d, c.Name, func(ctx context.Context, l *lane) (driver.Status, error) {
		if st, err := d.requestAlone(ctx, l, c); err != nil || st.Granted {
			d.sweeper.wrote.Store(true)
			return st, err
		}
		take := wakeLocks && l.wantsWakeLocks(c.ID)
		when := d.takesWakeLocks(take)
		a, err := l.conn.ask(ctx, "request", []byte(c.Name), c.ID, int64(c.Token), c.Weight, c.Limit, asked(c),
			c.Queue, []byte(c.Owner), []byte(c.Value), when,
			driver.SeriesStart(c.ID), driver.SeriesEnd(c.ID))
		if err != nil {
			return driver.Status{}, err
		}
		d.sweeper.wrote.Store(true)
		d.notice(a.free)
		if take && a.outcome == isThere && (when == always || !a.alone) {
			l.wakeLocks.taken(c, a.status.Granted)
		}
		d.settle(c, a)
		return a.status, a.err()
	})
}
