package quorum

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/causes"
)

// A node is one of the drivers that vote. It may be away, and it may come back without what it knew.
type node struct {
	at   int
	what string // for people
	open func(context.Context) (driver.Driver, error)

	mu      sync.Mutex
	driver  driver.Driver // nil until it was reached for the first time
	opening chan struct{} // closed when the attempt to reach it has ended; nil while there is none
	stop    func()        // ends that attempt
	err     error         // why the last one failed
	tried   time.Time
	failed  time.Time // when it last did not answer
	record  record    // of its lives
	met     time.Time // when it told its life last
	late    crowd     // those who keep trying to give something back
	topUps  crowd     // those who ask for what a majority has
}

// Pauses for a node that does not answer.
const (
	openPause  = time.Second     // between two attempts to reach it for the first time
	doubtFor   = 3 * time.Second // for how long it is not asked to keep the line after it did not answer
	openWithin = 5 * time.Second
)

// call lets fn ask the node, for as long as a node may take. An error that is no answer is remembered.
func call[T any](
	ctx context.Context, n *node, within time.Duration, fn func(context.Context, driver.Driver) (T, error),
) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	d, err := n.reach(ctx)
	if err == nil {
		v, err = fn(ctx, d)
	}
	n.note(ctx, err)
	if err != nil {
		err = &causes.Error{Where: n.what, Err: err}
	}
	return v, err
}

// tell is call for what answers with an error alone.
func tell(ctx context.Context, n *node, within time.Duration, fn func(context.Context, driver.Driver) error) error {
	_, err := call(ctx, n, within, func(ctx context.Context, d driver.Driver) (struct{}, error) {
		return struct{}{}, fn(ctx, d)
	})
	return err
}

// hasAnswered reports whether a node has answered, after which asking it again would not help. A node that says that it
// cannot tell has answered too: it is one of several, and the others are asked.
func hasAnswered(err error) bool { return driver.IsAnswer(err) || errors.Is(err, driver.ErrUnknown) }

func (n *node) note(ctx context.Context, err error) {
	if !hasAnswered(err) && !errors.Is(ctx.Err(), context.Canceled) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.failed = time.Now()
	}
}

// inDoubt reports whether the node did not answer lately.
func (n *node) inDoubt() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.failed.IsZero() && time.Since(n.failed) < doubtFor
}

// reach returns the node's driver. As long as the node could not be reached at all, it tries to, now and then.
func (n *node) reach(ctx context.Context) (driver.Driver, error) {
	n.mu.Lock()
	if n.driver != nil {
		defer n.mu.Unlock()
		return n.driver, nil
	}
	if n.opening == nil && time.Since(n.tried) < openPause {
		defer n.mu.Unlock()
		return nil, n.err
	}
	if n.opening == nil {
		trying, stop := context.WithTimeout(context.Background(), openWithin)
		n.opening, n.stop, n.tried = make(chan struct{}), stop, time.Now()
		go n.tryOpen(trying, n.opening)
	}
	opening := n.opening
	n.mu.Unlock()
	select {
	case <-opening:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.driver, n.err
}

// opened is the driver of the node if it was reached, or nil.
func (n *node) opened() driver.Driver {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.driver
}

func (n *node) tryOpen(ctx context.Context, done chan struct{}) {
	d, err := n.open(ctx)
	if err == nil {
		if err = mayVote(d); err != nil {
			d.Close() // it was of no use
			d = nil
		}
	}
	if err == nil {
		_ = n.identify(ctx, d) // who asks it something asks this too
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stop()
	n.driver, n.err, n.opening = d, err, nil
	close(done)
}

// close closes what open opened.
func (n *node) close() error {
	n.mu.Lock()
	opening := n.opening
	if opening != nil {
		n.stop()
	}
	n.mu.Unlock()
	if opening != nil {
		<-opening
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.driver
	n.driver, n.err, n.tried = nil, driver.ErrClosed, time.Now().Add(time.Hour)
	if d == nil {
		return nil
	}
	return d.Close()
}

// mayVote returns why a driver cannot be a node.
func mayVote(d driver.Driver) error {
	t := d.Traits()
	_, votes := driver.As[driver.Voter](d)
	switch {
	case !votes:
		return driver.Unsupported(t, "voting in a quorum")
	case !t.Listed || !t.Weighted || !t.Fenced:
		return driver.Unsupported(t, "voting in a quorum without lists, weights and tokens")
	}
	return nil
}

func newNode(at int, what string) *node {
	return &node{at: at, what: what, late: make(crowd, backTries), topUps: make(crowd, topUpTries)}
}
