package holdfast

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// firstAnswer is the part of the TTL within which a backend must answer at all; a waiter whose claim was queued has
// more patience, a whole TTL.
const firstAnswer = 5

// obtain gets a claim of its own granted.
func (l *lock) obtain(ctx context.Context, a ask, wait bool) (*hold, error) {
	h, w, err := l.begin(ctx, a, wait)
	if w == nil {
		return h, err
	}
	return l.pursue(ctx, a, w)
}

// pursue follows a queued claim until it is granted. A claim that ended while it waited, as when this process was
// paused, rejoins at the back of the queue with a new ID.
func (l *lock) pursue(ctx context.Context, a ask, w *waiter) (h *hold, err error) {
	for w != nil {
		h, err = w.await(ctx)
		if !isGone(err) {
			return h, err
		}
		h, w, err = l.begin(ctx, a, true)
	}
	return h, err
}

// begin requests a new claim. It returns a hold when the claim was granted, a waiter when it was queued.
func (l *lock) begin(ctx context.Context, a ask, wait bool) (*hold, *waiter, error) {
	if err := l.client.closed(); err != nil {
		return nil, nil, l.failure("lock", err)
	}
	claim := l.claim(a, wait)
	st, sent, unanswered, err := l.requestOften(ctx, claim, claim.TTL/firstAnswer)
	switch {
	case isGone(err): // an attempt was applied, its answer lost, and its claim expired meanwhile
		return nil, nil, l.failure("lock", ErrUnknown, err)
	case err != nil && answered(err) && !unanswered:
		return nil, nil, l.failure("lock", err)
	case err != nil && isUnsent(err) && !unanswered:
		return nil, nil, l.unsent(ctx, err)
	case err != nil:
		l.client.undo(claim)
		return nil, nil, l.unknown(ctx, err)
	case st.Granted && trustedUntil(sent, st.TTL) > now():
		return l.hold(a, claim, st, sent), nil, nil
	case wait:
		return nil, l.wait(a, claim, st, sent), nil
	case st.Granted: // long ago
		h, err := l.wait(a, claim, st, sent).await(ctx)
		if isGone(err) {
			err = l.taken()
		}
		return h, nil, err
	case unanswered: // that attempt may still arrive, when the lock is free
		l.client.undo(claim)
	}
	return nil, nil, l.taken()
}

// request sends a claim until the backend answers, always with the same ID, so that an attempt whose answer was lost
// is found again. sent is when the attempt that was answered was sent.
func (l *lock) request(ctx context.Context, claim driver.Claim, patience time.Duration) (st driver.Status, sent instant, err error) {
	st, sent, _, err = l.requestOften(ctx, claim, patience)
	return st, sent, err
}

// requestOften is request. unanswered says that an attempt before the last was not answered: it may have been applied, or
// may still be.
func (l *lock) requestOften(ctx context.Context, claim driver.Claim, patience time.Duration) (st driver.Status, sent instant, unanswered bool, err error) {
	sent = now()
	giveUp := sent.add(patience)
	for pace := (pace{}); ; sent = now() {
		attempt := l.client.attempts.begin(ctx, attemptLimit(claim.TTL), sent)
		st, err = l.client.driver.Request(attempt, claim)
		l.client.attempts.end(attempt)
		if err == nil || answered(err) || now() > giveUp || pace.pause(ctx) != nil {
			return st, sent, unanswered, err
		}
		unanswered = unanswered || !isUnsent(err)
	}
}

// unsent is the error for a request that has not left the client, so that there is nothing to undo.
func (l *lock) unsent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.failure("lock", ErrNotAcquired, context.Cause(ctx), err)
	}
	return l.failure("lock", err, errors.New("is the backend running and reachable?"))
}

// unknown is the error for a request that was not answered.
func (l *lock) unknown(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.failure("lock", ErrUnknown, context.Cause(ctx), err)
	}
	return l.failure("lock", ErrUnknown, err, errors.New("is the backend running and reachable?"))
}
