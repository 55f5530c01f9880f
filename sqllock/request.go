package sqllock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Request implements [driver.Driver].
func (d *Driver) Request(ctx context.Context, c driver.Claim) (st driver.Status, err error) {
	if c.Queue {
		d.posts.open(d, c.ID) // before the request, so that no ring is missed
	}
	var blockers []string
	err = d.do(ctx, func(t *tx) error {
		t.sweep()
		st, blockers, err = t.request(c)
		return err
	})
	if err != nil {
		return driver.Status{}, d.posts.closeIfGone(c.ID, err)
	}
	d.posts.answered(c.ID, st, blockers)
	return st, nil
}

// request queues or renews a claim. It also returns the clients of those ahead of it when it is next in line.
func (t *tx) request(c driver.Claim) (driver.Status, []string, error) {
	f, err := t.settle(c.Name)
	if err != nil {
		return driver.Status{}, nil, err
	}
	r, err := t.find(c.Name, c.ID)
	switch {
	case err != nil:
		return driver.Status{}, nil, err
	case r != nil:
		err = t.renew(r, c)
	default:
		r, err = t.enqueue(c, &f)
	}
	if r == nil || err != nil {
		return driver.Status{}, nil, err
	}
	st, err := t.status(*r, f)
	if st.Retry == 0 {
		return st, nil, err
	}
	return st, f.clients(), err
}

// renew lets a queued claim live for its TTL from now on. It stays that of the client that queued it, which may be
// waiting for it, unless that client is gone.
func (t *tx) renew(r *row, c driver.Claim) error {
	if c.Token != 0 && c.Token != r.Token {
		return driver.ErrGone
	}
	if !t.clientLives(r.client) {
		r.client = t.d.client.id
	}
	r.TTL, r.Detached = c.TTL, c.Detached
	return t.exec(renewRow, int64(c.TTL), bootID(), t.now+int64(c.TTL), r.client, c.Detached, []byte(c.Name), int64(r.Token))
}

// enqueue puts a new claim at the end, unless it would have to wait and does not want to: then there is no row.
func (t *tx) enqueue(c driver.Claim, f *front) (*row, error) {
	barred, _, err := t.recall(c)
	switch {
	case err != nil:
		return nil, err
	case barred || c.Token != 0:
		return nil, driver.ErrGone
	}
	r := row{Claim: c, granted: f.next == nil && f.fits(c)}
	if !r.granted && !c.Queue {
		return nil, nil
	}
	var token int64
	if err := t.get([]any{&token}, nextFence, []byte(c.Name), time.Now().UnixMicro()); err != nil {
		return nil, err
	}
	r.Token = uint64(token)
	if !r.granted && f.next == nil {
		f.next = &r
	}
	return &r, t.exec(insertRow, []byte(c.Name), token, c.ID, c.Weight, c.Limit, int64(c.TTL), bootID(), t.now+int64(c.TTL),
		time.Now().UnixMicro(), t.d.client.id, c.Detached, r.granted, []byte(c.Owner), []byte(c.Value))
}

// clients are those of the granted claims that end when their client does.
func (f *front) clients() []string {
	var ids []string
	for _, r := range f.granted {
		if !r.Detached {
			ids = append(ids, r.client)
		}
	}
	return ids
}

// Renew implements [driver.Renewer]: many claims in one transaction.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) (results []driver.Result, err error) {
	var blockers [][]string
	err = d.do(ctx, func(t *tx) error {
		t.sweep()
		results, blockers = make([]driver.Result, len(claims)), make([][]string, len(claims))
		for i, c := range claims {
			r := &results[i]
			if r.Status, blockers[i], r.Err = t.request(c); r.Err != nil && !isAnswer(r.Err) {
				return r.Err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, c := range claims {
		if r := results[i]; r.Err != nil {
			d.posts.closeIfGone(c.ID, r.Err)
		} else {
			d.posts.answered(c.ID, r.Status, blockers[i])
		}
	}
	return results, nil
}
