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
func (t *tx) settle(name string, newcomer *driver.Claim) (front, error) {
	for {
		f, dead, err := t.readFront(name, newcomer)
		if err != nil {
			return f, err
		}
		if len(dead) == 0 {
			return f, t.grant(&f)
		}
		for _, r := range dead {
			if err := t.end(r, false); err != nil {
				return f, err
			}
		}
	}
}

// whole is a newcomer that no other claim leaves room for, so that settle looks whether all holders are alive.
var whole = &driver.Claim{Weight: driver.All, Limit: driver.All}

// readFront reads the front of a queue. If it finds dead claims, it returns them, and settle reads again after they
// are gone. Whether the client of a granted claim lives costs system calls, so it looks only if the claim is in
// somebody's way.
func (t *tx) readFront(name string, newcomer *driver.Claim) (f front, dead []row, err error) {
	f.limit = driver.All
	err = t.rows(queueOf, []any{[]byte(name)}, func(r row) bool {
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
	return f, dead, err
}

// grant marks the granted claims of a front as such. The claim that is next in line now still watches the one that
// was just ahead of it. If others hold the lock too, it has to watch them as well, so it is woken.
func (t *tx) grant(f *front) error {
	fresh := false
	for i := range f.granted {
		r := &f.granted[i]
		if r.granted {
			continue
		}
		r.granted, fresh = true, true
		t.outlives(*r)
		if err := t.exec(grantClaim, []byte(r.Name), int64(r.Token)); err != nil {
			return err
		}
		t.wake(*r)
	}
	if fresh && f.next != nil && len(f.granted) > 1 {
		t.wake(*f.next)
	}
	return nil
}

// end takes a claim out of its queue and remembers how it ended. Its client is woken unless it released the claim
// itself. The claim behind one that waited is woken too, because it has to watch another one now.
func (t *tx) end(r row, released bool) error {
	t.outlives(r)
	if err := t.exec(deleteClaim, []byte(r.Name), int64(r.Token)); err != nil {
		return err
	}
	if !released {
		t.wake(r)
	}
	if !r.granted {
		behind, err := t.first(claimBehind, []byte(r.Name), int64(r.Token), int64(t.now))
		if err != nil {
			return err
		}
		if behind != nil {
			t.wake(*behind)
		}
	}
	return t.remember(r.Claim, released)
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
func (t *tx) status(r row, f front) (driver.Status, error) {
	entries := make([]driver.Entry, 0, len(f.granted)+2)
	for _, g := range f.granted {
		entries = append(entries, g.entry(t.now))
	}
	if f.next != nil {
		entries = append(entries, f.next.entry(t.now))
	}
	st, inFront := driver.StatusOf(entries, r.ID)
	if !inFront {
		st = driver.Status{Token: r.Token, TTL: r.TTL}
	}
	st.Revoked = r.revoked
	if st.Granted {
		return st, nil
	}
	behind, err := t.first(claimBehind, []byte(r.Name), int64(r.Token), int64(t.now))
	st.Contended = behind != nil
	return st, err
}

// heldOn is the answer about a granted claim that lives on, where that concerns nobody: nobody is behind it, or
// another holder. So of thousands that share a lock, not each has to read all others. ok is false for any other
// claim.
func (t *tx) heldOn(r row) (st driver.Status, ok bool, err error) {
	if !r.granted {
		return driver.Status{}, false, nil
	}
	st, behind, err := t.held(r)
	return st, err == nil && (behind == nil || behind.granted), err
}

// held is the answer about a granted claim, and the claim behind it.
func (t *tx) held(r row) (st driver.Status, behind *row, err error) {
	behind, err = t.first(claimBehind, []byte(r.Name), int64(r.Token), int64(t.now))
	st = driver.Status{Token: r.Token, Granted: true, TTL: r.TTL, Contended: behind != nil, Revoked: r.revoked}
	return st, behind, err
}

// remember bars the ID of a claim for as long as a late copy of its request may come: for its TTL, or for longer if
// that is noted already.
func (t *tx) remember(c driver.Claim, released bool) error {
	return t.exec(rememberEnd, []byte(c.Name), c.ID, int64(c.Token), released, int64(t.now+c.TTL))
}

// recall tells how a claim ended, if that is still known.
func (t *tx) recall(c driver.Claim) (token uint64, released, known bool, err error) {
	var stored int64
	known, err = t.get(recallEnd, []any{[]byte(c.Name), c.ID, int64(t.now)}, &stored, &released)
	return uint64(stored), released, known, err
}
