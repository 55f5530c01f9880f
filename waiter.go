package holdfast

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A waiter follows a claim that is queued. What it knows comes from three sides: the driver pushes, the keeper's
// renewals answer, and the next in line asks when the claim that blocks it expires.
type waiter struct {
	tracked
	lock *lock
	ask  ask

	mu        sync.Mutex
	status    driver.Status // the newest answer
	err       error         // how the claim ended
	goneEarly bool          // it did before it can have expired
	doubt     bool          // the claim may have ended, so nothing counts before the backend was asked
	asks      bool          // the driver has told to ask
	wakeUp    chan struct{} // has an element while there is news that await has not seen
}

// wait makes a waiter of a new claim that was answered with r, and keeps it alive.
func (l *lock) wait(a ask, claim driver.Claim, r reply) *waiter {
	w := &waiter{lock: l, ask: a, status: r.Status, wakeUp: make(chan struct{}, 1)}
	w.tracked.init(w, claim, r.Status, r.sent)
	l.client.keeper.add(&w.tracked)
	l.client.inbox.addSince(r.before, claim.ID, w)
	return w
}

// await returns when the claim is granted, has ended (driver.ErrGone), or is no longer wanted because ctx ended.
func (w *waiter) await(ctx context.Context) (h *hold, err error) {
	ctx, stop := w.lock.client.untilClosed(ctx)
	defer stop()
	defer w.lock.client.inbox.remove(w.claim.ID, w)
	defer w.lock.client.keeper.remove(&w.tracked)
	defer func() {
		if h == nil && err == nil { // the driver panicked
			w.abandon(nil)
		}
	}()
	var silent error // of the question before
	for {
		st, doubt, err := w.news()
		switch {
		case ctx.Err() != nil:
			return nil, w.abandon(w.lock.notAcquired(ctx, silent))
		case err != nil:
			return nil, err
		case doubt:
			err = w.again(ctx)
		case st.Granted:
			return w.lock.promote(w.ask, &w.tracked, st), nil
		default:
			err = w.pause(ctx, st)
		}
		if err != nil && ctx.Err() == nil {
			if w.claim.Queue {
				err = fmt.Errorf("%w: %w", err, ErrOutOfLine)
			}
			return nil, w.abandon(err)
		}
		silent = err
	}
}

// pause blocks until there is news. When the claim that blocks this one expires, it asks.
func (w *waiter) pause(ctx context.Context, st driver.Status) error {
	var expires <-chan time.Time
	if st.Retry > 0 {
		timer := time.NewTimer(st.Retry)
		defer timer.Stop()
		expires = timer.C
	}
	select {
	case <-w.wakeUp:
		return nil
	case <-ctx.Done():
		return nil
	case <-expires:
		return w.again(ctx)
	}
}

// again asks the backend about the claim, which renews it. An error means that it refused, or did not answer for as
// long as the patience lasts.
func (w *waiter) again(ctx context.Context) error {
	r := w.lock.requestOften(ctx, w.known(), 0, w.lock.settings.patienceFor(w.claim.Queue), w.answeredAt())
	switch {
	case r.err == nil:
		w.lock.client.keeper.keep(&w.tracked, r.sent, r.TTL)
		w.take(r.Status, trustedUntil(r.sent, r.TTL) <= now())
		return nil
	case isGone(r.err):
		w.gone(r.err)
		return nil
	case driver.IsAnswer(r.err):
		return w.lock.failure("lock", r.err)
	case ctx.Err() != nil:
		return r.err
	default:
		return w.lock.unknown(ctx, "lock", r.err)
	}
}

// answeredAt is when the request was sent that was answered last.
func (w *waiter) answeredAt() instant {
	trusted := time.Duration(trustedUntil(0, w.grantedTTL()))
	return w.validUntil().add(-trusted)
}

// abandon gives the claim back and returns err.
func (w *waiter) abandon(err error) error {
	w.lock.client.undo(w.claim)
	return err
}

// known is the claim as the backend must still know it. Under the token of a grant that ended meanwhile it knows
// none; to a backend whose waiting claims have no token, one that was asked for without it would be another claim.
func (w *waiter) known() driver.Claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.claim
	if w.status.Granted {
		c.Token = w.status.Token
	}
	return c
}

// take notes an answer, which leaves the claim in doubt if it came so late that the claim may have ended since. A claim
// that was granted stays so: an older answer may arrive late.
func (w *waiter) take(st driver.Status, late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(st)
	w.doubt = late
}

func (w *waiter) note(st driver.Status) {
	if !w.status.Granted || st.Granted {
		w.status = st
	}
}

// news returns the newest answer and whether the backend is to be asked before it counts, or driver.ErrGone when the
// claim has ended.
func (w *waiter) news() (st driver.Status, doubt bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	doubt = w.doubt || w.asks || w.validUntil() <= now()
	w.asks = false
	return w.status, doubt, w.err
}

// wake lets change note something, and await look at it.
func (w *waiter) wake(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	select {
	case w.wakeUp <- struct{}{}:
	default: // it has one
	}
}

// told is what the driver tells; see recipient. It says nothing about how long the claim still lives.
func (w *waiter) told(e driver.Event) {
	switch {
	case isGone(e.Err):
		w.gone(e.Err)
	case e.Status != driver.Status{}:
		w.wake(func() { w.note(e.Status) })
	default:
		w.wake(func() { w.asks = true })
	}
}

// renewal is the claim as it is requested again while it waits.
func (w *waiter) renewal() driver.Op { return driver.Op{Kind: driver.OpRequest, Claim: w.claim} }

// renewed, gone and expired are what the keeper tells; see claimOwner. A renewal that brings nothing new wakes nobody.
func (w *waiter) renewed(st driver.Status, _ instant) {
	if st.Granted || st.Retry > 0 {
		w.wake(func() { w.note(st) })
	}
}

// gone counts once: await may have learned it already, while a renewal was under way.
func (w *waiter) gone(err error) {
	early := w.validUntil() > now()
	w.wake(func() {
		if w.err == nil {
			w.err, w.goneEarly = err, early
		}
	})
}

// endedEarly reports whether the claim ended before it can have expired.
func (w *waiter) endedEarly() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.goneEarly
}

// expired says that no renewal was answered in time. The claim may still be there, so await asks.
func (w *waiter) expired() { w.wake(func() { w.doubt = true }) }

// untilClosed returns a context that also ends, with ErrClosed as its cause, when the client is closed.
func (c *Client) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.closing, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
