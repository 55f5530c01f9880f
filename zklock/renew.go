package zklock

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A renewal is a request that renews a claim.
type renewal struct {
	at     int // in the batch
	claim  *claim
	asked  driver.Claim
	result driver.Result
}

// renewal prepares a renewal; nil where that takes more than a look at the claim.
func (d *Driver) renewal(ctx context.Context, at int, op *driver.Op) *renewal {
	c := op.Claim
	e := d.claims.Known(c)
	if e == nil || d.open(ctx, c.Name) != nil || d.validate(ctx, c) != nil {
		return nil
	}
	if e.isGone() || !c.Queue || c.Token == 0 || c.Token != e.Token() {
		return nil
	}
	return &renewal{at: at, claim: e, asked: c}
}

// renewTogether renews claims, and answers about each.
func (d *Driver) renewTogether(ctx context.Context, batch []*renewal, tell func(at int, r driver.Result)) {
	bySession := make(map[*session][]*renewal)
	for _, r := range batch {
		bySession[r.claim.s] = append(bySession[r.claim.s], r)
	}
	var g driver.Group
	for s, some := range bySession {
		g.Go(func() {
			s.renew(ctx, some)
			for _, r := range some {
				tell(r.at, r.result)
			}
		})
	}
	g.Wait()
}

// renew renews one claim.
func (d *Driver) renew(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	r := renewal{claim: e, asked: c}
	e.s.renew(ctx, []*renewal{&r})
	return r.result.Status, r.result.Err
}

// renew renews claims of this session. The heartbeat comes first, so that what is read is no older than the call, and
// then the watches, so that no change after the look is missed. Each queue is read once, however many of the claims are
// in it.
func (s *session) renew(ctx context.Context, batch []*renewal) {
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
func (s *session) queuesOf(ctx context.Context, batch []*renewal) map[string]queue {
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
func (r *renewal) answer(q queue, from leased.Instant) (st driver.Status, err error) {
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
func (r *renewal) conclude() {
	if errors.Is(r.result.Err, errSessionLost) {
		r.claim.rememberEnd()
		r.result.Err = r.claim.goneError()
	}
	if r.result.Err != nil {
		r.result.Status = driver.Status{}
	}
}
