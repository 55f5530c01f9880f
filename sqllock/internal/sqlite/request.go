package sqlite

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) request(c driver.Claim) (driver.Status, error) {
	r, err := t.findLive(c.Name, c.ID)
	if err != nil {
		return driver.Status{}, err
	}
	if r != nil {
		return t.renew(*r, c)
	}
	return t.enqueue(c)
}

// renew lets a claim live for its TTL from now on, unless the claim was detached after c was sent. It remains the claim
// of the client that queued it, whose end is its own. One that is detached is the claim of who renews it, who is told
// what happens to it.
func (t *tx) renew(r row, c driver.Claim) (driver.Status, error) {
	if c.Token != 0 && c.Token != r.Token {
		return driver.Status{}, driver.ErrGone
	}
	if r.Detached && !c.Detached {
		return t.unchanged(r)
	}
	if err := t.barAhead(r, c.TTL); err != nil {
		return driver.Status{}, err
	}
	r.TTL, r.Detached, r.deadline = c.TTL, c.Detached, t.now+c.TTL
	if r.Detached {
		r.client = t.d.client.id
	}
	t.outlives(r)
	ttl, deadline := int64(r.TTL), int64(r.deadline)
	if err := t.exec(renewClaim, ttl, deadline, r.Detached, r.client, []byte(r.Name), int64(r.Token)); err != nil {
		return driver.Status{}, err
	}
	if st, ok, err := t.heldOn(r); ok || err != nil {
		return st, err
	}
	f, err := t.settle(r.Name, nil)
	if err != nil {
		return driver.Status{}, err
	}
	return t.status(r, f)
}

// unchanged answers about a detached claim that is not renewed: with what is left of its TTL.
func (t *tx) unchanged(r row) (driver.Status, error) {
	f, err := t.settle(r.Name, nil)
	if err != nil {
		return driver.Status{}, err
	}
	st, err := t.status(r, f)
	st.TTL = r.deadline - t.now
	return st, err
}

// barAhead bars the ID of a claim whose TTL becomes shorter, before the claim has ended: a late copy of a request
// with the longer TTL may arrive when an ID that is barred for the shorter one is forgotten. The note has no effect
// while the claim is queued.
func (t *tx) barAhead(r row, ttl time.Duration) error {
	if ttl >= r.TTL {
		return nil
	}
	r.TTL += ttl
	return t.remember(r.Claim, false)
}

// enqueue puts a claim at the end of its queue, unless it would have to wait and does not want to.
func (t *tx) enqueue(c driver.Claim) (driver.Status, error) {
	_, _, barred, err := t.recall(c)
	switch {
	case err != nil:
		return driver.Status{}, err
	case barred || c.Token != 0:
		return driver.Status{}, driver.ErrGone
	}
	f, err := t.settle(c.Name, &c)
	if err != nil {
		return driver.Status{}, err
	}
	r := row{Claim: c, client: t.d.client.id, deadline: t.now + c.TTL, granted: f.next == nil && f.fits(c)}
	if !r.granted && !c.Queue {
		return driver.Status{}, nil
	}
	if err := t.insert(&r); err != nil {
		return driver.Status{}, err
	}
	switch {
	case r.granted:
		f.hold(r)
	case f.next == nil:
		f.next = &r
	default:
		return driver.Status{Token: r.Token, TTL: r.TTL}, nil
	}
	return t.status(r, f)
}

// insert gives a claim its token and a row.
func (t *tx) insert(r *row) error {
	token, err := t.token(r.Name)
	if err != nil {
		return err
	}
	r.Token, r.since = uint64(token), time.Now().UnixMicro()
	t.outlives(*r)
	return t.exec(insertClaim, []byte(r.Name), token, r.ID, r.Weight, r.Limit, int64(r.TTL), int64(r.deadline), r.since,
		r.client, r.Detached, r.granted, []byte(r.Owner), []byte(r.Value))
}
