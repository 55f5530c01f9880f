package holdfast

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// An Entry is a claim in a queue, as others see it. Its Token is the first that a lease on the claim can have: each
// local hand-off adds one.
type Entry = driver.Entry

// Queue returns who holds a lock and who waits for it, oldest first. ErrInvalidName says that no lock on this backend
// can have this name.
func (c *Client) Queue(ctx context.Context, name string) ([]Entry, error) {
	l := c.lock(name, nil)
	if err := c.closed(); err != nil {
		return nil, l.failure("queue of", err)
	}
	if err := c.checkName(name); err != nil {
		return nil, l.failure("queue of", err)
	}
	a := l.ask(ctx, driver.OpQueue, "")
	if a.Err != nil {
		return nil, l.unserved(ctx, "queue of", a.Err)
	}
	for i := range a.Queue {
		a.Queue[i].Token <<= tokenShift
	}
	return a.Queue, nil
}

// ask does an operation once on the lock, or on the claim with this ID in its queue. Only ctx bounds it.
func (l *lock) ask(ctx context.Context, kind driver.Kind, claimID string) batch.Answer {
	claim := driver.Claim{Name: l.name, ID: claimID}
	return l.client.sender.Do(ctx, driver.Op{Kind: kind, Claim: claim}, 0)
}

// Names yields the names of the locks that start with prefix and are held or waited for, in no particular order. It
// stops after an error.
func (c *Client) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := c.closed(); err != nil {
			yield("", c.failure("names on", err))
			return
		}
		for name, err := range driver.List(ctx, c.driver, prefix) {
			if !driver.HoldsNotes(name) && !yield(name, err) {
				return
			}
		}
	}
}

// Break ends a claim by force, whether it waits or is held; [Client.Queue] returns its ID. A holder gets ErrLost: at
// once if its backend pushes the news, otherwise with the next renewal. Until then two holders may believe that they
// have the lock, and only the fencing token protects. A waiter gets ErrBroken and leaves the queue, together with all
// goroutines of its client that share the claim. [Client.Notes] tells who did it.
func (c *Client) Break(ctx context.Context, name, claimID string) error {
	l := c.lock(name, nil)
	if err := c.closed(); err != nil {
		return l.failure("break", err)
	}
	err := l.noting(ctx).noted(ctx, driver.NoteBreak, claimID, func() error {
		return l.ask(ctx, driver.OpBreak, claimID).Err
	})
	if err != nil {
		return l.unserved(ctx, "break", err)
	}
	return nil
}

// checkName reports why a lock on this backend cannot have a name.
func (c *Client) checkName(name string) error {
	t := c.traits
	err := driver.Validate(driver.Claim{Name: name, ID: "any", Weight: 1, Limit: 1, TTL: max(t.MinTTL, 1)}, t)
	if errors.Is(err, ErrInvalidName) {
		return err
	}
	return nil // all else is not about the name
}

// A Finding is one fact about how a server is set up, with advice. Its Level is driver.Fine, driver.Warning when a
// promise is weaker than it could be, or driver.Unsafe when locks may be lost or held twice.
type Finding = driver.Finding

// Check examines whether the backend is set up so that locks keep their promises. Call it when a program starts, or in
// a health check; it takes no lock. Findings are valid even if there is an error, which says that the examination is
// incomplete. An error that matches [errors.ErrUnsupported] says that this backend has nothing to examine.
func (c *Client) Check(ctx context.Context) ([]Finding, error) {
	if err := c.closed(); err != nil {
		return nil, c.failure("check", err)
	}
	findings, err := driver.Check(ctx, c.driver, false)
	if err != nil {
		err = c.failure("check", err)
	}
	return findings, err
}

// failure is the error of an operation on the backend as a whole. It names the backend.
func (c *Client) failure(op string, err error) error {
	return fmt.Errorf("%s %s: %w", op, c.label, err)
}

// Revoke asks the holders of a lock to release it: the Revoked channels of their leases are closed. Whether they do is
// up to them. It is not an error if nobody holds the lock. [Client.Notes] tells who asked.
func (c *Client) Revoke(ctx context.Context, name string) error {
	l := c.lock(name, nil)
	queue, err := c.Queue(ctx, name)
	if err != nil {
		return err
	}
	notes := l.noting(ctx)
	for _, e := range queue {
		if !e.Granted {
			break
		}
		err := notes.noted(ctx, driver.NoteRevoke, e.ID, func() error {
			return l.ask(ctx, driver.OpRevoke, e.ID).Err
		})
		if err != nil && !isGone(err) {
			return l.unserved(ctx, "revoke", err)
		}
	}
	return nil
}

// Revoked returns a channel that is closed when somebody asks the holder to release the lock: see [Client.Revoke]. The
// lease stays valid. A holder that can should finish its work and release the lease.
func (l *Lease) Revoked() <-chan struct{} {
	h := l.grant.hold
	h.watch()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked == nil {
		h.asked = make(chan struct{})
		if h.revoked {
			close(h.asked)
		}
	}
	return h.asked
}

// note takes what the backend says about a hold beside that it is held.
func (h *hold) note(st driver.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.contended = st.Contended
	if st.Revoked && !h.revoked {
		h.revoked = true
		if h.asked != nil {
			close(h.asked)
		}
	}
}

// A Leftover is something that Reap has removed: its Kind, such as "last token", and the Name of the lock it belonged
// to, or "" if it belonged to none.
type Leftover = driver.Leftover

// Ages of what is removed. What is younger than the least may belong to a request that is under way; the usual one
// leaves a clock that is set back by a day without effect on tokens.
const (
	leastReapAge = time.Minute
	usualReapAge = 24 * time.Hour
)

// Reap removes what past locks have left behind and nobody has used for a day: see [Client.ReapOlderThan].
func (c *Client) Reap(ctx context.Context) ([]Leftover, error) {
	return c.ReapOlderThan(ctx, usualReapAge)
}

// ReapOlderThan removes what nobody has used for age, which must be a minute or more: tokens of locks that are no
// longer used, and claims of clients that died. It returns what was removed, even if there is an error. It never
// touches a lock that is held or waited for, and tokens keep growing as long as no clock goes back by more than age.
// Backends remove most of it by themselves, and some leave nothing behind, so calling it is optional.
func (c *Client) ReapOlderThan(ctx context.Context, age time.Duration) ([]Leftover, error) {
	if err := c.closed(); err != nil {
		return nil, c.failure("reap", err)
	}
	if age < leastReapAge {
		return nil, c.failure("reap", fmt.Errorf("older than %v is too young; it must be %v or more, "+
			"so that nothing is removed that a request in progress needs", age, leastReapAge))
	}
	removed, err := driver.Reap(ctx, c.driver, age)
	if err != nil {
		err = c.failure("reap", err)
	}
	return removed, err
}
