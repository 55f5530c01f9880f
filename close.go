package holdfast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Close ends all leases at once, and calls that wait for a lock with ErrClosed. It returns when all locks are released
// and all requests whose outcome was unknown are undone, or when ctx ends. What is not released by then ends with its
// TTL; then the error matches ErrUnknown and the context's cause. If ctx has already ended, as one does that a signal
// ends, Close takes up to two seconds.
func (c *Client) Close(ctx context.Context) error {
	ctx, cancel := outlive(ctx, closeGrace)
	defer cancel()
	c.close(ErrClosed)
	var f farewell
	for _, h := range c.keeper.holds() {
		f.surrender(h)
	}
	waited := c.background.wait(ctx)
	result := f.result(waited, c.undoer.lastFailure())
	c.end()
	c.undoer.stop()
	c.keeper.stop()
	c.unhear()
	return errors.Join(result, c.disconnect(ctx))
}

// Grace for a context that has ended.
const (
	closeGrace      = 2 * time.Second       // to give back what is held
	disconnectGrace = 25 * time.Millisecond // to end the connections
)

// outlive returns ctx or, when that has ended, one with its values that lasts for so long.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return context.WithTimeout(context.WithoutCancel(ctx), grace)
	}
	return context.WithCancel(ctx)
}

// disconnect closes the driver if it was opened by Open. That goes on when it takes longer than ctx lasts.
func (c *Client) disconnect(ctx context.Context) error {
	if !c.owned {
		return nil
	}
	ctx, cancel := outlive(ctx, disconnectGrace)
	defer cancel()
	closed := make(chan struct{})
	var err error
	go func() {
		_, err = rescued(c, func() (struct{}, error) { return struct{}{}, c.driver.Close() })
		close(closed)
	}()
	if closesWithin(ctx, closed) {
		return err
	}
	return fmt.Errorf("close: the connections are still being closed: %w", context.Cause(ctx))
}

// A farewell is what becomes of the holds of a client that closes.
type farewell struct {
	endings []*ending
}

func (f *farewell) surrender(h *hold) {
	if e := h.surrender(); e != nil {
		f.endings = append(f.endings, e)
	}
}

// result says what went wrong. What is not known yet, never will be: waited is why nobody waits for it any more, and
// failed why the last attempt to release something failed, if it did.
func (f *farewell) result(waited, failed error) error {
	var errs []error
	left := 0
	for _, e := range f.endings {
		if e.tell(e.lock.failure("release", errNotGivenBack)) {
			left++
		} else {
			errs = append(errs, e.result)
		}
	}
	if waited != nil {
		errs = append(errs, fmt.Errorf("close: %w: %s: %w", ErrUnknown, unreleased(left), after(failed, waited)))
	}
	return errors.Join(errs...)
}

// unreleased says what Close has left.
func unreleased(locks int) string {
	switch locks {
	case 0:
		return "not everything was given back in time, and what is left ends with its TTL"
	case 1:
		return "a lock was not released in time, and ends with its TTL"
	default:
		return fmt.Sprintf("%d locks were not released in time, and end with their TTL", locks)
	}
}

// errNotGivenBack is the error of what Close has not given back.
var errNotGivenBack = fmt.Errorf("%w: the client was closed before the lock was released; "+
	"it ends with its TTL", ErrUnknown)

// An ending is what the backend says when Close gives a lock back in place of its owner.
type ending struct {
	lock  *lock
	known chan struct{} // closed when result is set

	mu     sync.Mutex
	leases []*Lease // that ended, of which the observer is to be told
	told   bool
	result error
}

// tell sets the result, unless it is known already, and tells the observer.
func (e *ending) tell(result error) (first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told {
		return false
	}
	e.told, e.result = true, result
	close(e.known)
	for _, l := range e.leases {
		l.tell(OpRelease, result)
	}
	return true
}

// join adds a lease that was made when its grant had ended.
func (e *ending) join(l *Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told {
		l.tell(OpRelease, e.result)
	} else {
		e.leases = append(e.leases, l)
	}
}
