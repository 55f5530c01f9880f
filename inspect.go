package holdfast

import (
	"context"
	"iter"

	"github.com/holdfast-go/holdfast/driver"
)

// An Entry is a claim in a queue, as others see it. Its Token is the first that a lease on the claim can have: local
// hand-offs count up from it.
type Entry = driver.Entry

// Queue returns who holds a lock and who waits for it, oldest first.
func (c *Client) Queue(ctx context.Context, name string) ([]Entry, error) {
	l := c.lock(name, nil)
	if err := c.closed(); err != nil {
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
	return driver.List(ctx, c.driver, prefix)
}

// Break takes a claim away by force, waiting or held; [Client.Queue] tells its ID. Its holder learns ErrLost: at once
// when it listens, otherwise with the next renewal. Until then two may believe to hold the lock, and the token protects.
func (c *Client) Break(ctx context.Context, name, claimID string) error {
	if err := driver.Break(ctx, c.driver, name, claimID); err != nil {
		l := c.lock(name, nil)
		return l.unserved(ctx, "break", err)
	}
	return nil
}
