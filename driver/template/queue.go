package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

const format = 1 // of what is stored: a program reads only its own

// A queue is the record of a lock, and the rules of the contract. It knows no store: who copies the driver can keep
// this file. Names, owners and values may have any bytes, which a string of JSON may not.
type queue struct {
	Format int
	Name   []byte
	Last   uint64 // the greatest token so far
	Claims []claim
	Ended  []ending

	now     time.Time // by the store's clock
	changed bool      // it has to be written
}

type claim struct {
	ID                string
	Token             uint64
	Weight, Limit     int64
	TTL               time.Duration
	Longest           time.Duration // of the TTLs that it was requested with
	Since, Expires    time.Time
	Owner, Value      []byte
	Detached, Revoked bool
}

// An ending bars the ID of a claim that has ended, and answers who releases it again.
type ending struct {
	ID       string
	Token    uint64
	Released bool
	Until    time.Time
}

// decode returns the queue in a record. One that is not there is empty.
func decode(name string, r Record) (*queue, error) {
	q := &queue{Format: format, Name: []byte(name), now: r.Now}
	if r.Revision == "" {
		return q, nil
	}
	err := json.Unmarshal(r.Data, q)
	if err == nil && q.Format != format {
		err = fmt.Errorf("it has format %d, and this program reads %d", q.Format, format)
	}
	if err != nil {
		return &queue{now: r.Now}, fmt.Errorf("%w: the record of lock %q: %w; use one version of this program, "+
			"or remove the key when nobody has the lock", driver.ErrRefused, name, err)
	}
	return q, nil
}

// keep returns for how long the record matters if nobody writes it again, so that nothing stays behind for ever.
func (q *queue) keep() (longest time.Duration) {
	for _, c := range q.Claims {
		longest = max(longest, c.Expires.Add(c.Longest).Sub(q.now))
	}
	for _, e := range q.Ended {
		longest = max(longest, e.Until.Sub(q.now))
	}
	return longest
}

// apply does one operation. It finds what an earlier copy of the operation has done, and answers in the same way.
func (q *queue) apply(op driver.Op) (r driver.Result) {
	place := slices.IndexFunc(q.Claims, func(c claim) bool { return c.ID == op.Claim.ID })
	found := place >= 0 && (op.Claim.Token == 0 || op.Claim.Token == q.Claims[place].Token)
	switch kind := op.Kind; {
	case kind == driver.OpRelease && place < 0:
		r.Err = q.releaseAgain(op.Claim)
	case kind == driver.OpRequest && place < 0 && op.Claim.Token == 0 && !q.isBarred(op.Claim.ID):
		r.Status = q.enqueue(op.Claim)
	case kind == driver.OpQueue || kind == driver.OpWatch: // who watches compares with it: see Driver.follow
		r.Queue = q.entries()
		if op.Most > 0 {
			r.Queue = r.Queue[:min(op.Most, len(r.Queue))]
		}
	case !traits.Ops.Has(kind):
		r.Err = driver.Unsupported(traits, kind.String())
	case !found || kind == driver.OpRevoke && !q.entries()[place].Granted:
		r.Err = driver.ErrGone
	case kind == driver.OpRequest:
		r.Status = q.renew(place, op.Claim)
	case kind == driver.OpRelease || kind == driver.OpBreak:
		q.end(place, kind == driver.OpRelease)
	case kind == driver.OpRevoke:
		q.Claims[place].Revoked, q.changed = true, true
	}
	return r
}

// enqueue adds a claim, unless it would have to wait and does not want to.
func (q *queue) enqueue(c driver.Claim) driver.Status {
	before := *q
	// The clock keeps tokens growing when the record was removed in between.
	q.Last = max(q.Last+1, uint64(q.now.UnixMicro()))
	q.Claims = append(q.Claims, claim{
		ID: c.ID, Token: q.Last, Weight: c.Weight, Limit: c.Limit, Since: q.now,
		Owner: []byte(c.Owner), Value: []byte(c.Value),
	})
	st := q.renew(len(q.Claims)-1, c)
	if !st.Granted && !c.Queue {
		*q = before
		return driver.Status{}
	}
	return st
}

// renew has a claim live for its TTL from now on, unless the request was sent before the claim was left alone.
func (q *queue) renew(place int, c driver.Claim) driver.Status {
	own := &q.Claims[place]
	older := own.Detached && !c.Detached
	if !older {
		own.TTL, own.Expires, own.Longest = c.TTL, q.now.Add(c.TTL), max(own.Longest, c.TTL)
		own.Detached, q.changed = c.Detached, true
	}
	st, _ := q.status(c.ID)
	if older {
		st.TTL = own.Expires.Sub(q.now)
	}
	return st
}

// releaseAgain answers the release of a claim that is not queued, and bars its ID if its request may still come.
func (q *queue) releaseAgain(c driver.Claim) error {
	at := slices.IndexFunc(q.Ended, func(e ending) bool { return e.ID == c.ID })
	if at < 0 && c.Token == 0 {
		q.remember(ending{ID: c.ID, Until: q.now.Add(c.TTL)})
	}
	if at >= 0 && q.Ended[at].Released && (c.Token == 0 || c.Token == q.Ended[at].Token) {
		return nil
	}
	return driver.ErrGone
}

// dropExpired ends what has expired, and forgets what was remembered for long enough.
func (q *queue) dropExpired() {
	for place := len(q.Claims) - 1; place >= 0; place-- {
		if !q.now.Before(q.Claims[place].Expires) {
			q.end(place, false)
		}
	}
	q.Ended = slices.DeleteFunc(q.Ended, func(e ending) bool { return q.now.After(e.Until) })
}

// end takes a claim out, by which those behind it that fit now are granted.
func (q *queue) end(place int, released bool) {
	c := q.Claims[place]
	q.Claims = slices.Delete(q.Claims, place, place+1)
	q.remember(ending{c.ID, c.Token, released, q.now.Add(c.Longest)})
}

// remember keeps an ending. Of a series of IDs it keeps the last alone, or a lock that is in use all the time would
// have one for each use.
func (q *queue) remember(e ending) {
	q.Ended = slices.DeleteFunc(q.Ended, func(old ending) bool { return isLater(e.ID, old.ID) })
	q.Ended, q.changed = append(q.Ended, e), true
}

func (q *queue) isBarred(id string) bool {
	return slices.ContainsFunc(q.Ended, func(e ending) bool { return e.ID == id || isLater(e.ID, id) })
}

// isLater reports whether id has a greater number than other in the same series: see [driver.NewID].
func isLater(id, other string) bool {
	at := len(id) - len("_00000001")
	return at > 0 && len(other) == len(id) && id[at] == '_' && id[:at] == other[:at] && id > other
}

// entries returns the queue as others see it. What is granted follows from the record alone, not from the time.
func (q *queue) entries() []driver.Entry {
	entries, granted := make([]driver.Entry, len(q.Claims)), true
	for i, c := range q.Claims {
		entries[i] = driver.Entry{Since: c.Since, Left: c.Expires.Sub(q.now), Claim: driver.Claim{
			Name: string(q.Name), ID: c.ID, Token: c.Token, Weight: c.Weight, Limit: c.Limit, TTL: c.TTL, Queue: true,
			Owner: string(c.Owner), Value: string(c.Value), Detached: c.Detached,
		}}
		if granted {
			st, _ := driver.StatusOf(entries[:i+1], c.ID)
			granted = st.Granted
		}
		entries[i].Granted = granted
	}
	return entries
}

// status answers about a claim; ok is false if it is not queued.
func (q *queue) status(id string) (st driver.Status, ok bool) {
	st, ok = driver.StatusOf(q.entries(), id)
	st.Revoked = slices.ContainsFunc(q.Claims, func(c claim) bool { return c.ID == id && c.Revoked })
	return st, ok
}
