package memlock

import (
	"slices"
	"sort"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A lock is a queue of claims, and what is remembered of those that ended. It is used under the mutex of its store.
type lock struct {
	name  string
	began time.Time // when the store began
	now   time.Time // when it was last used

	queue   []driver.Claim     // oldest first
	granted int                // so many at the front of the queue are granted
	records map[string]*record // by ID, of each claim in the queue
	soonest time.Time          // nothing in the queue expires before
	ended   map[string]end     // by series
	spare   *record            // of a claim that ended, to be used again; or nil
	last    uint64             // the greatest token so far
	value   driver.Value       // what is kept for the next holder

	watchers watchers
	followed int         // clients that follow a claim, for each claim
	alarm    *time.Timer // looks when something has expired; nil: it is not set
	alarmAt  time.Time
}

// A record is what belongs to a queued claim besides the claim.
type record struct {
	since   time.Time
	expires time.Time
	longest time.Duration // the longest TTL that the claim was requested with
	revoked bool

	following following // told when it is granted, revoked or ends
}

// newRecord returns the record of a claim that is queued now. Most locks have one claim at a time, so that of the one
// before will do.
func (l *lock) newRecord() *record {
	r := l.spare
	if r == nil {
		r = new(record)
	}
	l.spare = nil
	*r = record{since: l.now}
	return r
}

func newLock(name string, began, now time.Time) *lock {
	l := &lock{name: name, began: began, now: now, records: make(map[string]*record), ended: make(map[string]end)}
	l.last = l.clock() - 1
	return l
}

// advance moves the lock to now: what has expired until then ends.
func (l *lock) advance(now time.Time) {
	l.now = now
	if now.Before(l.soonest) {
		return
	}
	l.end(false, func(c driver.Claim) bool { return !now.Before(l.records[c.ID].expires) })
	l.soonest = now.Add(time.Hour)
	for _, r := range l.records {
		l.soonest = earlier(l.soonest, r.expires)
	}
}

// end takes claims out of the queue, remembers how they ended, and grants what that makes grantable.
func (l *lock) end(released bool, over func(driver.Claim) bool) {
	place, before := 0, len(l.queue)
	granted := l.granted
	l.queue = slices.DeleteFunc(l.queue, func(c driver.Claim) bool {
		place++
		if !over(c) {
			return false
		}
		if place <= granted {
			l.granted--
		}
		l.bury(c, released)
		return true
	})
	if len(l.queue) < before {
		l.grant()
		l.watchers.changed(l.name)
	}
}

// bury forgets a claim, except for how it ended.
func (l *lock) bury(c driver.Claim, released bool) {
	r := l.records[c.ID]
	l.tellEnd(c, r)
	delete(l.records, c.ID)
	c.TTL = r.longest
	l.remember(c, released)
	l.spare = r
}

// grant lengthens the granted part of the queue as far as the rule allows, and tells those who wait for it. It never
// becomes shorter, because a claim that leaves only makes room.
func (l *lock) grant() {
	waiting := l.queue[l.granted:]
	more := sort.Search(len(waiting), func(i int) bool {
		return !driver.Granted(l.queue[:l.granted+i+1], waiting[i].ID)
	})
	l.granted += more
	for place := l.granted - more; place < l.granted; place++ {
		l.tellNews(place)
	}
}

// find returns the place of a claim in the queue, by ID and, when it has one, by token.
func (l *lock) find(c driver.Claim) (place int, ok bool) {
	place = slices.IndexFunc(l.queue, func(q driver.Claim) bool { return q.ID == c.ID })
	return place, place >= 0 && (c.Token == 0 || c.Token == l.queue[place].Token)
}

// status answers about the claim at this place. Only for the next in line others are looked at: where thousands share a
// lock, each of them asks time and again.
func (l *lock) status(place int) driver.Status {
	c := l.queue[place]
	st := driver.Status{Token: c.Token, Granted: place < l.granted, TTL: c.TTL, Contended: place < len(l.queue)-1}
	if place == l.granted {
		st.Retry = max(l.soonestAhead(place), 1)
	}
	st.Revoked = l.records[c.ID].revoked
	return st
}

// soonestAhead is when the first of the claims ahead of a place expires.
func (l *lock) soonestAhead(place int) time.Duration {
	soonest := l.records[l.queue[0].ID].expires
	for _, c := range l.queue[:place] {
		soonest = earlier(soonest, l.records[c.ID].expires)
	}
	return soonest.Sub(l.now)
}

// entries returns the first claims as others see them, so many at most; all if most is zero.
func (l *lock) entries(most int) []driver.Entry {
	n := len(l.queue)
	if most > 0 {
		n = min(n, most)
	}
	entries := make([]driver.Entry, n)
	for i, c := range l.queue[:n] {
		r := l.records[c.ID]
		entries[i] = driver.Entry{Claim: c, Granted: i < l.granted, Since: r.since, Left: r.expires.Sub(l.now)}
	}
	return entries
}

// idle reports whether nothing is lost when the lock is forgotten. Its tokens go on from the clock.
func (l *lock) idle() bool {
	return len(l.queue) == 0 && len(l.ended) == 0 && len(l.watchers) == 0 && l.last < l.clock()
}

func earlier(t, u time.Time) time.Time {
	if t.Before(u) {
		return t
	}
	return u
}

// clock returns the least token that may be given now: the microseconds since 1970, by a clock that is never set.
// Tokens therefore grow also after a lock was forgotten.
func (l *lock) clock() uint64 {
	return uint64(l.began.UnixMicro()) + uint64(l.now.Sub(l.began)/time.Microsecond)
}

// nextToken returns a token greater than every one before.
func (l *lock) nextToken() uint64 {
	l.last = max(l.last+1, l.clock())
	return l.last
}
