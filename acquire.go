package holdfast

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// An outcome is what came of requesting a new claim. One of its fields is set.
type outcome struct {
	hold   *hold   // the claim was granted
	waiter *waiter // it is queued
	err    error   // why it is neither
}

// obtain gets a claim of its own granted.
func (l *lock) obtain(ctx context.Context, a ask, wait bool) (*hold, error) {
	o := l.begin(ctx, a, wait)
	if o.waiter == nil {
		return o.hold, o.err
	}
	defer l.client.waits()()
	return l.pursue(ctx, a, o.waiter)
}

// pursue follows a queued claim until it is granted, or the one that took its place.
func (l *lock) pursue(ctx context.Context, a ask, w *waiter) (*hold, error) {
	for {
		h, err := w.await(ctx)
		if !isGone(err) {
			return h, err
		}
		o := l.rejoin(ctx, a, w)
		if o.waiter == nil {
			return o.hold, o.err
		}
		w = o.waiter
	}
}

// rejoin goes on for a claim that ended while it waited. One that expired, as when this process was paused, is
// followed by a new one at the back of the queue.
func (l *lock) rejoin(ctx context.Context, a ask, w *waiter) outcome {
	if w.endedEarly() && l.client.traits.FIFO {
		return l.returns(ctx, a, w.claim)
	}
	return l.enqueue(ctx, a, true, l.settings.patienceFor(true))
}

// returns requests a waiting claim again that is gone though it cannot have expired. A backend that has lost its data
// lets it in; where it was broken its ID is barred, and whoever broke it does not want it back.
func (l *lock) returns(ctx context.Context, a ask, claim driver.Claim) outcome {
	claim.Token = 0
	r := l.requestNew(ctx, claim, 0, l.settings.patienceFor(true))
	switch {
	case !isGone(r.err):
		return l.begun(ctx, a, claim, r)
	case r.lost > 0: // an attempt may have let it in
		return l.enqueue(ctx, a, true, l.settings.patienceFor(true))
	default:
		return outcome{err: l.failure("lock", ErrNotAcquired, l.broken(ctx, claim.ID))}
	}
}

// begin makes the first request of an acquisition.
func (l *lock) begin(ctx context.Context, a ask, wait bool) outcome {
	return l.enqueue(ctx, a, wait, l.settings.patienceAtFirst(wait))
}

// enqueue requests a new claim. A claim of which nothing was known until it had expired is followed by another.
func (l *lock) enqueue(ctx context.Context, a ask, wait bool, patience time.Duration) outcome {
	for {
		if !wait || !l.client.traits.FIFO { // there is no place in a queue to be lost meanwhile
			l.client.undoer.makeWay(ctx, l.name)
		}
		if err := l.client.closed(); err != nil {
			return outcome{err: l.failure("lock", err)}
		}
		if ctx.Err() != nil {
			return outcome{err: l.notAcquired(ctx)}
		}
		claim := l.claim(a, wait)
		r := l.requestNew(ctx, claim, driver.TryFirst, patience)
		if !isGone(r.err) || r.lost == 0 || !wait {
			return l.begun(ctx, a, claim, r)
		}
	}
}

// requestNew is requestOften for a claim that nobody else knows, so it is undone when the driver panics.
func (l *lock) requestNew(
	ctx context.Context, claim driver.Claim, try driver.Try, patience time.Duration,
) (r reply) {
	returned := false
	defer func() {
		if !returned {
			l.client.undo(claim)
		}
	}()
	before := l.client.inbox.mark()
	r = l.requestOften(ctx, claim, try, patience, 0)
	r.before = before
	returned = true
	return r
}

// begun looks at the reply to the request for a new claim.
func (l *lock) begun(ctx context.Context, a ask, claim driver.Claim, r reply) outcome {
	switch {
	case r.err != nil:
		return outcome{err: l.notBegun(ctx, claim, r)}
	case r.Granted && trustedUntil(r.sent, r.TTL) > now():
		return outcome{hold: l.hold(a, claim, r.Status, r.sent)}
	case claim.Queue:
		return outcome{waiter: l.wait(a, claim, r)}
	case r.Granted: // so long ago that the claim may have expired
		h, err := l.wait(a, claim, r).await(ctx)
		if isGone(err) {
			err = l.taken()
		}
		return outcome{hold: h, err: err}
	case r.lost > 0: // that attempt may still arrive, when the lock is free
		l.client.undo(claim)
	}
	return outcome{err: l.taken()}
}

// notBegun is the error for a new claim whose request failed. What may have been applied is undone: only the answer
// to the single attempt that was sent says that there is nothing to undo.
func (l *lock) notBegun(ctx context.Context, claim driver.Claim, r reply) error {
	switch {
	case isGone(r.err): // an attempt was applied, its answer lost, and its claim expired meanwhile
		return l.failure("lock", ErrUnknown, r.err)
	case driver.IsAnswer(r.err) && r.lost == 0:
		return l.failure("lock", r.err)
	case isUnsent(r.err) && r.lost == 0:
		return l.unsent(ctx, "lock", r.err)
	default:
		l.client.undo(claim)
		return l.unknown(ctx, "lock", r.err)
	}
}

// A reply is what came of a request.
type reply struct {
	driver.Status
	sent   instant // when the attempt that was answered was sent
	before mark    // of a new claim: where the inbox was before the first attempt
	lost   int     // attempts sent before the last and not answered: they may have been applied, or may still be
	err    error
}

// request sends a claim until the backend answers, always with the same ID, so that an attempt whose answer was lost
// is found again. sent is when the attempt that was answered was sent.
func (l *lock) request(
	ctx context.Context, claim driver.Claim, patience time.Duration,
) (st driver.Status, sent instant, err error) {
	r := l.requestOften(ctx, claim, 0, patience, 0)
	return r.Status, r.sent, r.err
}

// requestOften is request. It ends with patience, ctx or the client; where the backend did not answer until then, the
// error matches ErrUnavailable and says since when it is silent: since that instant, or the beginning if it is zero.
// try is that of the first attempt, until one was sent whose outcome is unknown.
func (l *lock) requestOften(
	ctx context.Context, claim driver.Claim, try driver.Try, patience time.Duration, since instant,
) (r reply) {
	p, pace := patient(patience, claim.TTL), newPace()
	r.sent, since = p.began, cmp.Or(since, p.began)
	defer l.inquiry.over()
	var said error // by the server
	for attempts := 1; ; attempts++ {
		l.inquiry.begun(attempts, since, cmp.Or(said, r.err))
		a := l.client.request(ctx, claim, try, p.limit(r.sent), r.sent)
		r.Status, r.err = a.Status, a.Err
		if !isUnsent(a.Err) {
			r.sent = instant(a.Sent)
		}
		if driver.IsAnswer(r.err) {
			return r
		}
		if attempts == 1 { // most are answered at once, and need not know that
			open, stop := l.client.untilClosed(ctx)
			defer stop()
			ctx = open
		}
		if ctx.Err() != nil || p.isOver() || pace.Pause(ctx) != nil || p.isOver() {
			r.err = silence(ctx, attempts, since, after(said, r.err))
			return r
		}
		said = serverError(said, r.err)
		if !isUnsent(r.err) {
			r.lost++
			try = 0
		}
		r.sent = now()
	}
}

// request makes one attempt, which begins at an instant that has just been read.
func (c *Client) request(
	ctx context.Context, claim driver.Claim, try driver.Try, limit time.Duration, at instant,
) batch.Answer {
	op := driver.Op{Kind: driver.OpRequest, Claim: claim, Try: try}
	return c.sender.DoAt(ctx, op, limit, time.Duration(at))
}

// unsent is the error for a request that has not left the client, so that there is nothing to undo.
func (l *lock) unsent(ctx context.Context, op string, err error) error {
	switch closed := l.client.closed(); {
	case ctx.Err() != nil:
		return l.failure(op, ErrNotAcquired, context.Cause(ctx), err)
	case closed != nil:
		return l.failure(op, closed, err)
	default:
		return l.failure(op, withAdvice(err))
	}
}

// unknown is the error for a request that was not answered.
func (l *lock) unknown(ctx context.Context, op string, err error) error {
	switch closed := l.client.closed(); {
	case ctx.Err() != nil:
		return l.failure(op, ErrUnknown, context.Cause(ctx), err)
	case closed != nil:
		return l.failure(op, ErrUnknown, closed, err)
	default:
		return l.failure(op, ErrUnknown, withAdvice(err))
	}
}
