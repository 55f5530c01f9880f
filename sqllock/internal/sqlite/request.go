package sqlite

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) request(c driver.Claim) (driver.Status, error) {
	if r := t.findLive(c.Name, c.ID); r != nil {
		return t.renew(*r, c)
	}
	return t.enqueue(c)
}

// renew lets a claim live for its TTL from now on, unless the claim was detached after c was sent. It remains the
// claim of the client that queued it, whose end is its own. One that is detached is the claim of who renews it, who
// is told what happens to it.
func (t *tx) renew(r row, c driver.Claim) (driver.Status, error) {
	if c.Token != 0 && c.Token != r.Token {
		return driver.Status{}, driver.ErrGone
	}
	if r.Detached && !c.Detached {
		st := t.status(r, t.settle(r.Name, nil))
		st.TTL = r.deadline - t.now // what is left of it
		return st, nil
	}
	t.barAhead(r, c.TTL)
	r.TTL, r.Detached, r.deadline = c.TTL, c.Detached, t.now+c.TTL
	if r.Detached {
		r.client = t.d.client.id
	}
	t.outlives(r)
	ttl, deadline := int64(r.TTL), int64(r.deadline)
	t.exec("renew", ttl, deadline, r.Detached, r.client, []byte(r.Name), int64(r.Token))
	if r.granted { // of thousands that share a lock, not each has to read all others
		if st, behind := t.held(r); behind == nil || behind.granted {
			return st, nil
		}
	}
	return t.status(r, t.settle(r.Name, nil)), nil
}

// barAhead bars the ID of a claim whose TTL becomes shorter, before the claim has ended: a late copy of a request
// with the longer TTL may arrive when an ID that is barred for the shorter one is forgotten. The note has no effect
// while the claim is queued.
func (t *tx) barAhead(r row, ttl time.Duration) {
	if ttl < r.TTL {
		r.TTL += ttl
		t.remember(r.Claim, false)
	}
}

// enqueue puts a claim at the end of its queue, unless it would have to wait and does not want to.
func (t *tx) enqueue(c driver.Claim) (driver.Status, error) {
	if _, _, barred := t.recall(c); barred || c.Token != 0 {
		return driver.Status{}, driver.ErrGone
	}
	f := t.settle(c.Name, &c)
	r := row{Claim: c, client: t.d.client.id, deadline: t.now + c.TTL, granted: f.next == nil && f.fits(c)}
	if !r.granted && !c.Queue {
		return driver.Status{}, nil
	}
	t.insert(&r)
	switch {
	case r.granted:
		f.hold(r)
	case f.next == nil:
		f.next = &r
		if len(f.granted) == 1 { // its client may keep the lock for itself as long as nobody else wants it
			t.wakeups = append(t.wakeups, wakeup{f.granted[0].client, queueOf(c.Name)})
		}
	default:
		return driver.Status{Token: r.Token, TTL: r.TTL}, nil
	}
	return t.status(r, f), nil
}

// insert gives a claim its token and a row.
func (t *tx) insert(r *row) {
	token := t.token(r.Name)
	r.Token, r.since = uint64(token), time.Now().UnixMicro()
	t.outlives(*r)
	t.exec("insert", []byte(r.Name), token, r.ID, r.Weight, r.Limit, int64(r.TTL), int64(r.deadline), r.since,
		r.client, r.Detached, r.granted, []byte(r.Owner), []byte(r.Value))
}
