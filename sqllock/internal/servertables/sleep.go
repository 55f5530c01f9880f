package servertables

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// A wait in the server is begun anew after this time. A statement holds a snapshot for as long as it lasts, for which
// others wait (CREATE INDEX CONCURRENTLY), and from a second on servers log it as slow. The routine waits no longer
// than this either, whatever it is told. If a wait is not answered some time later, its connection is dead.
const (
	longestWait = 800 * time.Millisecond
	lateWait    = 4 * time.Second
)

// attend gives a claim a sleeper, if it is the oldest that waits for its lock, and there may be one sleeper more. Where
// sessions are shared there is none. The following is locked.
func (d *Driver) attend(p *followed) {
	f := &d.following
	if p.held || p.isAttended() || f.waiting[p.claim.Name][0] != p || d.endpoint.shared.Load() ||
		f.sleepers >= d.sleeping.most || time.Now().Before(f.noSleepers) {
		return
	}
	f.sleepers++
	p.attended = time.Now()
	f.ended.Go(func() { d.sleep(p) })
}

func (p *followed) isAttended() bool { return !p.attended.IsZero() }

// sleep waits in the server for a claim, and then for others that have no sleeper. A wait for a claim that is left
// meanwhile goes on: a statement that is cancelled is an error in the server's log. It ends when the driver is closed,
// when there is no such claim, or when it has no connection.
func (d *Driver) sleep(p *followed) {
	for p != nil {
		a, err := run(context.Background(), d.sleeping, affinity{}, func(ctx context.Context, l *lane) (answer, error) {
			ctx, cancel := context.WithTimeout(ctx, longestWait+lateWait)
			defer cancel()
			if !d.following.fallAsleep(p) {
				return answer{outcome: nothing}, nil
			}
			return l.conn.ask(ctx, "wait", []byte(p.claim.Name), p.claim.ID, micros(longestWait),
				d.endpoint.wakeLocks() > 0)
		})
		if err == nil {
			d.report(p, a)
			runtime.Gosched() // who has been granted the lock goes first
		}
		p = d.wakeUp(p, err != nil)
	}
}

// fallAsleep notes that the sleeper of a claim has a connection. It is false where nobody waits for the claim any more.
func (f *following) fallAsleep(p *followed) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.asleep = slices.Contains(f.waiting[p.claim.Name], p)
	return p.asleep
}

// wakeUp returns the claim for which a sleeper waits next, or nil: then the sleeper ends. After one that has failed
// there are no more for a while.
func (d *Driver) wakeUp(p *followed, failed bool) (next *followed) {
	f := &d.following
	f.mu.Lock()
	defer f.mu.Unlock()
	p.attended, p.asleep = time.Time{}, false
	if failed {
		f.noSleepers = time.Now().Add(pauseAfterFailure)
		f.lookSoon()
	} else if !d.endpoint.shared.Load() {
		next = f.unattended(p.claim.Name)
	}
	if next == nil {
		f.sleepers--
		return nil
	}
	next.attended = time.Now()
	return next
}

// unattended returns a claim that is the oldest on a lock, this one if possible, and has no sleeper.
func (f *following) unattended(name string) *followed {
	if list := f.waiting[name]; len(list) > 0 && !list[0].isAttended() {
		return list[0]
	}
	for _, list := range f.waiting {
		if !list[0].isAttended() {
			return list[0]
		}
	}
	return nil
}
