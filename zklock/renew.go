package zklock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// Renew renews claims, as [driver.Op] says of those that are Brief: one heartbeat for each of their sessions, and a
// look at each claim.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	if d.lifetime.Err() != nil {
		return nil, driver.ErrClosed
	}
	results := make([]driver.Result, len(claims))
	batches := make(map[*session][]renewal)
	var others []int // places of those that take more
	for i, c := range claims {
		if e := d.claims.Known(c); e != nil && d.plain(e, c) {
			batches[e.s] = append(batches[e.s], renewal{e, c, &results[i]})
		} else {
			others = append(others, i)
		}
	}
	var all sync.WaitGroup
	for s, batch := range batches {
		all.Go(func() { s.renew(ctx, batch) })
	}
	forEach(len(others), func(i int) {
		at := others[i]
		results[at].Status, results[at].Err = d.Request(ctx, claims[at])
	})
	all.Wait()
	return results, nil
}

// plain reports whether renewing the claim takes no more than looking at it.
func (d *Driver) plain(e *claim, c driver.Claim) bool {
	return c.Token != 0 && c.Token == e.Token() && c.Queue && !e.isGone() && d.begin(context.Background(), c) == nil
}

// A renewal is one of a batch.
type renewal struct {
	claim  *claim
	asked  driver.Claim
	result *driver.Result
}

// renew renews one claim.
func (d *Driver) renew(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	var r driver.Result
	e.s.renew(ctx, []renewal{{e, c, &r}})
	return r.Status, r.Err
}

// renew renews claims of this session. The heartbeat comes first, so that what is read is no older than the call, and
// then the watches, so that no change after the look is missed. Each queue is read once, however many of the claims are
// in it.
func (s *session) renew(ctx context.Context, batch []renewal) {
	from := leased.Now()
	_, err := s.heartbeat(ctx)
	forEach(len(batch), func(i int) {
		r := batch[i]
		if r.result.Err = err; err == nil {
			r.result.Err = r.claim.keepWatch(ctx)
		}
	})
	queues := s.queuesOf(ctx, batch)
	for _, r := range batch {
		if r.result.Err == nil {
			r.result.Status, r.result.Err = r.answer(queues[r.claim.queue], from)
		}
		r.conclude()
	}
}

// A queue is the claims on a lock, or why they could not be read.
type queue struct {
	seats []seat
	err   error
}

// queuesOf reads the queues of those claims that are about to be renewed, by their paths.
func (s *session) queuesOf(ctx context.Context, batch []renewal) map[string]queue {
	var paths []string
	for _, r := range batch {
		if r.result.Err == nil {
			paths = append(paths, r.claim.queue)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	read := make([]queue, len(paths))
	forEach(len(paths), func(i int) { read[i].seats, read[i].err = s.seats(ctx, paths[i]) })
	queues := make(map[string]queue, len(paths))
	for i, path := range paths {
		queues[path] = read[i]
	}
	return queues
}

// answer answers about a claim whose session was alive at some instant, and whose queue was read after that.
func (r renewal) answer(q queue, from leased.Instant) (st driver.Status, err error) {
	e := r.claim
	ttl, err := e.s.granted(r.asked.TTL)
	if err = cmp.Or(err, q.err); err != nil {
		return st, err
	}
	if _, err = e.among(q.seats); err != nil {
		return st, err
	}
	if token := e.Token(); r.asked.Token != 0 && r.asked.Token != token {
		return st, driver.ErrGone
	}
	if !e.Live(e.s.sure(ttl, from), from) {
		return st, driver.ErrGone
	}
	return e.Status(), nil
}

// conclude notes the end of a claim that was not there, or whose session was not.
func (r renewal) conclude() {
	if errors.Is(r.result.Err, errSessionLost) {
		r.claim.rememberEnd()
		r.result.Err = r.claim.goneError()
	}
	if r.result.Err != nil {
		r.result.Status = driver.Status{}
	}
}
