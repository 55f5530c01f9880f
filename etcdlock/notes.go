package etcdlock

import (
	"context"
	"time"
)

// notesPerLease bounds how many tombstones end with one lease: etcd deletes all that a lease has in one step, and
// does nothing else meanwhile.
const notesPerLease = 256

// A shelf is the leases of tombstones that stay for one time. They are not deleted one by one: a lease that is
// full is not kept alive any more, and its tombstones end with it, at least a TTL after the last of them was made.
type shelf struct {
	current *slot
	taken   int   // places of current
	next    *slot // granted in time; nil until half of the places are taken
}

// isUsable reports whether one of its leases takes tombstones, or is on its way.
func (s *shelf) isUsable() bool { return s.current.IsUsable() || s.next != nil && s.next.IsUsable() }

// noteTime is the TTL of the lease for tombstones that stay this long, in seconds. It is kept alive after each third of
// that, so that it nearly always lives for long enough, and a tombstone need not wait until it has been extended.
func noteTime(ttl time.Duration) int64 {
	return wholeSeconds((ttl + leaseSlack) * keepPart / (keepPart - 1))
}

// noteLease returns a lease for a tombstone, which lives for ttl from now on at least. That must be known before the
// tombstone is left: nobody keeps a claim any more that has ended, so a late copy of its first request would queue it
// for as long as its lease lives, and others share that.
func (d *Driver) noteLease(ctx context.Context, ttl time.Duration) (*lease, error) {
	for {
		l, err := d.place(ttl).Await(ctx)
		if err != nil {
			return nil, err
		}
		if err = l.extend(ttl)(ctx); !isLeaseLost(err) && err != errLeaseDenied {
			return l, err
		}
	}
}

// prepareNotes begins to grant the lease for tombstones that stay so long.
func (d *Driver) prepareNotes(ttl time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shelf(noteTime(ttl))
}

// place takes a place on the shelf for this time.
func (d *Driver) place(ttl time.Duration) *slot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.shelf(noteTime(ttl))
	if s.taken++; s.taken == notesPerLease/2 {
		s.next = d.newSlot(noteTime(ttl))
	}
	return s.current
}

// shelf returns the shelf for so many seconds, with a place on its current lease. d.mu is held.
func (d *Driver) shelf(seconds int64) *shelf {
	s := d.shelves[seconds]
	if s == nil {
		s = &shelf{}
		d.shelves[seconds] = s
	}
	switch {
	case s.current != nil && s.current.IsUsable() && s.taken < notesPerLease:
		return s
	case s.current != nil:
		retire(s.current)
	}
	if s.current, s.next, s.taken = s.next, nil, 0; s.current == nil || !s.current.IsUsable() {
		s.current = d.newSlot(seconds)
	}
	return s
}

// retire lets a lease end by itself.
func retire(s *slot) {
	if l, ok := s.Lease(); ok {
		l.retire()
	} // else it is not granted yet, and ends when nobody has used it for a while
}

func (l *lease) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = true
}

func (l *lease) isFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}
