package holdfast

import (
	"context"
	"errors"
	"iter"

	"github.com/holdfast-go/holdfast/driver"
)

// An Entry is a claim in a queue, as others see it. Its Token is the first that a lease on the claim can have: local
// hand-offs count up from it.
type Entry = driver.Entry

// Queue returns who holds a lock and who waits for it, oldest first. ErrInvalidName says that no lock on this backend can
// have this name.
func (c *Client) Queue(ctx context.Context, name string) ([]Entry, error) {
	l := c.lock(name, nil)
	if err := c.closed(); err != nil {
		return nil, l.failure("queue of", err)
	}
	if err := c.checkName(name); err != nil {
		return nil, l.failure("queue of", err)
	}
	queue, err := c.driver.Queue(ctx, name)
	if err != nil {
		return nil, l.unserved(ctx, "queue of", err)
	}
	for i := range queue {
		queue[i].Token <<= tokenShift
	}
	return queue, nil
}

// Names yields the names of the locks that start with prefix and are held or waited for, in no particular order. After
// an error it yields no more.
func (c *Client) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	if err := c.closed(); err != nil {
		return func(yield func(string, error) bool) { yield("", c.failure("names on", err)) }
	}
	return driver.List(ctx, c.driver, prefix)
}

// Break takes a claim away by force, waiting or held; [Client.Queue] tells its ID. Its holder learns ErrLost: at once
// when it listens, otherwise with the next renewal. Until then two may believe to hold the lock, and the token protects.
// Who waits learns ErrBroken and leaves, with all goroutines of its client that waited together.
func (c *Client) Break(ctx context.Context, name, claimID string) error {
	if err := c.closed(); err != nil {
		l := c.lock(name, nil)
		return l.failure("break", err)
	}
	if err := driver.Break(ctx, c.driver, name, claimID); err != nil {
		l := c.lock(name, nil)
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
