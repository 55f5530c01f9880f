package sqlite

import (
	"github.com/holdfast-go/holdfast/driver"
)

// A front is the part of a queue that decides who is granted the lock: the granted claims, and the next one.
type front struct {
	granted []row
	weight  int64 // of the granted claims together
	limit   int64 // the smallest of theirs
	next    *row  // nil when nobody waits
}

// settle makes the front of a queue what it should be: it takes dead claims out, grants what becomes grantable, and
// wakes those whom it granted the lock. It reads no further than the first claim that has to wait, however long the
// queue is. Claims that died further back stay until they come to the front, or are swept. newcomer is a claim that
// is about to be queued, or nil.
func (t *tx) settle(name string, newcomer *driver.Claim) front {
	for {
		f, dead := t.readFront(name, newcomer)
		if len(dead) == 0 {
			t.grant(&f)
			return f
		}
		for _, r := range dead {
			t.end(r, false)
		}
	}
}

// whole is a newcomer that no other claim leaves room for, so that settle looks whether all holders are alive.
var whole = &driver.Claim{Weight: driver.All, Limit: driver.All}

// readFront reads the front of a queue. If it finds dead claims, it returns them, and settle reads again after they
// are gone. Whether the client of a granted claim lives costs system calls, so it looks only if the claim is in
// somebody's way.
func (t *tx) readFront(name string, newcomer *driver.Claim) (f front, dead []row) {
	f.limit = driver.All
	t.rows("queue", []any{[]byte(name)}, func(r row) bool {
		switch {
		case r.deadline <= t.now || !r.granted && !t.isAlive(r):
			dead = append(dead, r)
		case f.fits(r.Claim):
			f.hold(r)
		default:
			f.next = &r
		}
		return f.next == nil
	})
	if f.next != nil || newcomer != nil && !f.fits(*newcomer) {
		for _, r := range f.granted {
			if !t.isAlive(r) {
				dead = append(dead, r)
			}
		}
	}
	return f, dead
}

// grant marks the granted claims of a front as such. The claim that is next in line now still watches the one that
// was just ahead of it. If others hold the lock too, it has to watch them as well, so it is woken.
func (t *tx) grant(f *front) {
	fresh := false
	for i := range f.granted {
		r := &f.granted[i]
		if r.granted {
			continue
		}
		r.granted, fresh = true, true
		t.outlives(*r)
		t.exec("grant", []byte(r.Name), int64(r.Token))
		t.wake(*r)
	}
	if fresh && f.next != nil && len(f.granted) > 1 {
		t.wake(*f.next)
	}
}

// end takes a claim out of its queue and remembers how it ended. Its client is woken unless it released the claim
// itself. The claim behind one that waited is woken too, because it has to watch another one now.
func (t *tx) end(r row, released bool) {
	t.outlives(r)
	t.exec("delete", []byte(r.Name), int64(r.Token))
	if !released {
		t.wake(r)
	}
	if !r.granted {
		if behind := t.behind(r); behind != nil {
			t.wake(*behind)
		}
	}
	t.remember(r.Claim, released)
}

// behind is the live claim behind another one; nil if there is none.
func (t *tx) behind(r row) *row {
	return t.first("behind", []byte(r.Name), int64(r.Token), int64(t.now))
}

// fits reports whether a claim would be granted behind the granted ones, by the rule of [driver.Granted]. Where
// thousands share a lock that is asked for each of them, so it must not look at all of them each time.
func (f *front) fits(c driver.Claim) bool { return f.weight+c.Weight <= min(f.limit, c.Limit) }

// hold puts a claim that fits behind the granted ones.
func (f *front) hold(r row) {
	f.granted = append(f.granted, r)
	f.weight, f.limit = f.weight+r.Weight, min(f.limit, r.Limit)
}

// status is the answer about a claim of the queue that has this front.
func (t *tx) status(r row, f front) driver.Status {
	st := driver.Status{Token: r.Token, TTL: r.TTL, Revoked: r.revoked}
	soonest := driver.LongestDuration
	for i, g := range f.granted {
		if g.ID == r.ID {
			st.Granted, st.Contended = true, i+1 < len(f.granted) || f.next != nil
			return st
		}
		soonest = min(soonest, g.deadline-t.now)
	}
	st.Contended = t.behind(r) != nil
	if f.next != nil && f.next.ID == r.ID {
		st.Retry = max(soonest, 1)
	}
	return st
}

// held is the answer about a granted claim, and the claim behind it.
func (t *tx) held(r row) (driver.Status, *row) {
	behind := t.behind(r)
	st := driver.Status{Token: r.Token, Granted: true, TTL: r.TTL, Contended: behind != nil, Revoked: r.revoked}
	return st, behind
}

// remember bars the ID of a claim for as long as a late copy of its request may come: for its TTL, or for longer if
// that is noted already.
func (t *tx) remember(c driver.Claim, released bool) {
	t.exec("remember", []byte(c.Name), c.ID, int64(c.Token), released, int64(t.now+c.TTL))
}

// recall tells how a claim ended, if that is still known.
func (t *tx) recall(c driver.Claim) (token uint64, released, known bool) {
	var stored int64
	known = t.get("recall", []any{[]byte(c.Name), c.ID, int64(t.now)}, &stored, &released)
	return uint64(stored), released, known
}
