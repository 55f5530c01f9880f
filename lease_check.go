package holdfast

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver/batch"
)

// Check asks the backend whether the lock is still held, in one round trip that also renews it. It returns nil if it is
// held, a *LostError if it is lost, also while the backend does not answer, and another error if there was no answer
// before ctx ended, which leaves the lease as it was.
func (l *Lease) Check(ctx context.Context) error {
	if err := l.over(); err != nil {
		return err
	}
	h := l.grant.hold
	if ctx.Err() != nil {
		return h.lock.unserved(ctx, "check", ctx.Err())
	}
	if !h.lock.client.keeper.confirm(&h.tracked) {
		return cmp.Or(l.over(), h.lock.failure("check", errors.New("the lease is about to be detached")))
	}
	if err := h.confirm(ctx, l.Done()); err != nil {
		return err
	}
	return l.over()
}

// A question is a request about a hold that is not the keeper's. It goes on for a while after nobody waits for it any
// more: what was given up may still arrive, so who leaves the claim alone waits until it is over.
type question struct {
	err    error
	caught *crash // a panic, to go on with
}

// confirm asks one that the keeper has counted, until the lease of who asks is over. The error is about anything but
// the end of the claim.
func (h *hold) confirm(ctx context.Context, over <-chan struct{}) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	answer, left := make(chan question), make(chan struct{})
	defer close(left)
	go func() {
		defer close(answer) // also when the driver ends the goroutine
		q := h.askOnce(ctx)
		select {
		case answer <- q:
		case <-left:
			if q.caught != nil {
				h.lock.client.survive(q.caught)
			}
		}
	}()
	select {
	case q, ok := <-answer:
		if q.caught != nil {
			panic(q.caught.value)
		}
		if !ok {
			return h.lock.failure("check", errPanicked)
		}
		return q.err
	case <-over:
		return nil
	case <-ctx.Done():
		return h.lock.unserved(ctx, "check", ctx.Err())
	}
}

// askOnce asks, and passes on what the backend says.
func (h *hold) askOnce(ctx context.Context) (q question) {
	asking, stop := h.lock.client.outlasting(ctx, attemptLimit(h.grantedTTL()))
	defer stop()
	var a batch.Answer
	a.Err = errPanicked
	q.caught = catch(func() {
		defer func() { h.lock.client.keeper.confirmed(&h.tracked, a) }()
		a = h.requestUntil(ctx, asking)
	})
	switch {
	case isGone(a.Err):
		h.gone(a.Err)
	case a.Err != nil:
		q.err = h.lock.unserved(ctx, "check", a.Err)
	default:
		h.renewed(a.Status, instant(a.Sent))
	}
	return q
}

// requestUntil requests the claim until there is an answer, an error, or ctx ends. No attempt takes long: renewals wait
// for its end.
func (h *hold) requestUntil(ctx, asking context.Context) batch.Answer {
	for limit := attemptLimit(h.grantedTTL()); ; {
		began := now()
		a := h.lock.client.sender.Do(asking, h.renewal(), limit)
		late := errors.Is(a.Err, context.DeadlineExceeded) && now().sub(began) >= limit
		if !late || ctx.Err() != nil || asking.Err() != nil {
			return a
		}
	}
}

// outlasting returns a context that ends so long after ctx, or with the client.
func (c *Client) outlasting(ctx context.Context, by time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopLate := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	stopWithClient := context.AfterFunc(c.lifetime, cancel)
	return longer, func() {
		stopLate()
		stopWithClient()
		cancel()
	}
}
