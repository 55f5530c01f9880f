package quorum

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/causes"
)

// A node is one of the drivers that vote. It may be away, and it may come back without what it knew.
type node struct {
	at   int
	what string // for people
	open func(context.Context) (driver.Driver, error)

	quorum atomic.Pointer[Driver] // is told what the node tells; nil while it is made

	mu      sync.Mutex
	link    *link         // nil until it was reached for the first time
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

// A link is the way to a node that was reached. All operations of this client on the node go through one Sender: there
// they gather, and no two of them are on the same claim at a time.
type link struct {
	driver      driver.Driver // for what is no operation
	sender      *batch.Sender
	unsubscribe func() // ends what it tells of claims and queues
}

// linkTo makes the way to a node, and has the node tell what happens to claims and queues.
func (n *node) linkTo(d driver.Driver) {
	l := &link{d, batch.New(d, nil), d.Subscribe(n.told)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link = l
}

// told is what the node's driver calls, under any of its locks.
func (n *node) told(e driver.Event) {
	if d := n.quorum.Load(); d != nil {
		d.hear(n, e)
	}
}

// do does an operation on the node, for as long as a node may take; zero: as long as ctx. It notes what the answer says
// about the node: that it does not answer, or in which life it does.
func (n *node) do(ctx context.Context, op *driver.Op, within time.Duration) (r driver.Result) {
	l, err := n.reach(ctx, within)
	if err != nil {
		r.Err = n.noted(ctx, err)
		return r
	}
	r = l.sender.Do(ctx, *op, within).Result
	if r.Err == nil && r.Life.ID != "" {
		n.meet(r.Life)
	}
	r.Err = n.noted(ctx, r.Err)
	return r
}

// renew does requests of claims that are only to be kept alive, as one batch.
func (n *node) renew(ctx context.Context, ops []driver.Op, within time.Duration) []driver.Result {
	results := make([]driver.Result, len(ops))
	l, err := n.reach(ctx, within)
	if err != nil {
		err = n.noted(ctx, err)
		for i := range results {
			results[i].Err = err
		}
		return results
	}
	var answers sync.WaitGroup
	answers.Add(len(ops))
	var fell atomic.Pointer[batch.Panic]
	l.sender.Go(ctx, ops, within, func(i int, a batch.Answer) {
		if p, panicked := errors.AsType[*batch.Panic](a.Err); panicked {
			fell.Store(p)
		}
		results[i] = a.Result
		results[i].Err = n.noted(ctx, a.Err)
		answers.Done()
	})
	answers.Wait()
	if p := fell.Load(); p != nil {
		panic(p)
	}
	return results
}

// use asks a node what is no operation.
func use[T any](ctx context.Context, n *node, ask func(driver.Driver) (T, error)) (v T, err error) {
	l, err := n.reach(ctx, 0)
	if err == nil {
		v, err = ask(l.driver)
	}
	return v, n.noted(ctx, err)
}

// hasAnswered reports whether a node has answered, after which asking it again would not help. A node that says that it
// cannot tell has answered too: it is one of several, and the others are asked.
func hasAnswered(err error) bool { return driver.IsAnswer(err) || errors.Is(err, driver.ErrUnknown) }

// noted remembers an error that is no answer, and says whose error it is.
func (n *node) noted(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if !hasAnswered(err) && !errors.Is(ctx.Err(), context.Canceled) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.failed = time.Now()
	}
	return &causes.Error{Where: n.what, Err: err}
}

// inDoubt reports whether the node did not answer lately.
func (n *node) inDoubt() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.failed.IsZero() && time.Since(n.failed) < doubtFor
}

// reach returns the way to the node. As long as the node could not be reached at all, it tries to, now and then. It
// takes so long at most; zero: as long as ctx.
func (n *node) reach(ctx context.Context, within time.Duration) (*link, error) {
	n.mu.Lock()
	if n.link != nil {
		defer n.mu.Unlock()
		return n.link, nil
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
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	select {
	case <-opening:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link, n.err
}

// opened is the driver of the node if it was reached, or nil.
func (n *node) opened() driver.Driver {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.link == nil {
		return nil
	}
	return n.link.driver
}

func (n *node) tryOpen(ctx context.Context, done chan struct{}) {
	d, err := n.open(ctx)
	if err == nil {
		if err = mayVote(d); err != nil {
			d.Close() // it was of no use
		}
	}
	if err == nil {
		n.linkTo(d)
		_ = n.identify(ctx) // who asks it something asks this too
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stop()
	n.err, n.opening = err, nil
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
	l := n.link
	n.link, n.err, n.tried = nil, driver.ErrClosed, time.Now().Add(time.Hour)
	n.mu.Unlock()
	if l == nil {
		return nil
	}
	l.unsubscribe()
	return l.driver.Close()
}

// mayVote returns why a driver cannot be a node.
func mayVote(d driver.Driver) error {
	t := d.Traits()
	switch {
	case !t.Ops.Has(driver.OpPropose):
		return driver.Unsupported(t, "voting in a quorum")
	case !t.Listed || !t.Weighted || !t.Fenced:
		return driver.Unsupported(t, "voting in a quorum without lists, weights and tokens")
	}
	return nil
}

func newNode(at int, what string) *node {
	return &node{at: at, what: what, late: make(crowd, backTries), topUps: make(crowd, topUpTries)}
}
