package quorum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/stack"
)

// A Driver makes several drivers, its nodes, agree by majority. All methods are safe for concurrent use.
type Driver struct {
	nodes   []*node
	owned   bool // the nodes are closed with the driver
	traits  driver.Traits
	timeout time.Duration // zero: by the TTL
	memory  *memory
	claims  *claims
	events  *events

	unsafeFresh bool

	lifetime   context.Context // until the driver is closed
	end        context.CancelFunc
	work       context.Context // until what is in progress then has had its time
	stop       context.CancelFunc
	background sync.WaitGroup
	mu         sync.Mutex // orders spawn and Close
	closed     bool
}

var (
	_ driver.Driver  = (*Driver)(nil)
	_ driver.Checker = (*Driver)(nil)
	_ driver.Lister  = (*Driver)(nil)
)

// Options adjust a driver. The zero value, or nil, is right for most.
type Options struct {
	// MaxTTL is the longest TTL that a claim may have: a minute if zero. All clients of a quorum must use the same. A
	// node that restarts may have forgotten what it granted, so it does not vote for this time.
	MaxTTL time.Duration
	// Timeout is how long a node may take to answer: if zero, a tenth of the TTL, but at most a second.
	Timeout time.Duration
	// UnsafeFresh lets a node vote as soon as it has started. It is for development and tests, whose engines start
	// empty. A node that forgets a lock when it restarts, and votes at once, lets in two holders, whose tokens may not
	// grow.
	UnsafeFresh bool
}

// DefaultMaxTTL is the default of Options.MaxTTL.
const DefaultMaxTTL = time.Minute

// fewest is how many nodes a quorum has at least: of two, none can be spared.
const fewest = 3

// New makes a quorum of drivers, each with an engine of its own, that do [driver.OpPropose]. It does not close them,
// and sends nothing. If two of them reach the same engine, the first answers show it, and then the two have one vote
// together.
func New(nodes []driver.Driver, opts *Options) (*Driver, error) {
	voters := make([]*node, len(nodes))
	for i, d := range nodes {
		if err := mayVote(d); err != nil {
			return nil, fmt.Errorf("quorum: node %d: %w", i+1, err)
		}
		voters[i] = newNode(i, fmt.Sprintf("node %d", i+1))
		voters[i].linkTo(d)
	}
	return build(voters, "quorum", opts)
}

// build makes a driver of nodes, of which at least one was reached.
func build(nodes []*node, backend string, opts *Options) (*Driver, error) {
	if len(nodes) < fewest {
		return nil, fmt.Errorf("quorum: %d nodes; it takes at least %d, and should be an odd number",
			len(nodes), fewest)
	}
	if opts == nil {
		opts = &Options{}
	}
	d := &Driver{
		nodes: nodes, timeout: opts.Timeout, unsafeFresh: opts.UnsafeFresh,
		memory: newMemory(), claims: newClaims(), events: newEvents(),
	}
	d.traits = traitsOf(nodes, backend)
	if opts.MaxTTL != 0 {
		d.traits.MaxTTL = opts.MaxTTL
	}
	if err := d.checkTimes(); err != nil {
		return nil, err
	}
	d.lifetime, d.end = context.WithCancel(context.Background())
	d.work, d.stop = context.WithCancel(context.Background())
	for _, n := range nodes {
		n.quorum.Store(d)
	}
	return d, nil
}

func (d *Driver) checkTimes() error {
	switch {
	case d.traits.MaxTTL < d.traits.MinTTL:
		return fmt.Errorf("quorum: the longest TTL is %v, the shortest that the nodes take is %v; choose a longer one",
			d.traits.MaxTTL, d.traits.MinTTL)
	case d.timeout < 0:
		return fmt.Errorf("quorum: the timeout is %v; it must not be negative", d.timeout)
	case d.timeout > d.traits.MaxTTL/2:
		return fmt.Errorf("quorum: the timeout is %v; it must be at most half of the longest TTL, %v",
			d.timeout, d.traits.MaxTTL)
	}
	return nil
}

// minTTL is the shortest TTL: several rounds must fit in it.
const minTTL = 500 * time.Millisecond

// traitsOf returns what a quorum of these nodes can do.
func traitsOf(nodes []*node, backend string) driver.Traits {
	t := driver.Traits{
		Backend: backend, MinTTL: minTTL, MaxTTL: DefaultMaxTTL,
		Fenced: true, ServerClock: true, Listed: true, Detach: true, Ops: kinds,
	}
	for _, n := range nodes {
		opened := n.opened()
		if opened == nil {
			continue
		}
		its := opened.Traits()
		t.MinTTL = max(t.MinTTL, its.MinTTL)
		t.ServerClock = t.ServerClock && its.ServerClock
		t.Detach = t.Detach && its.Detach
		if room := its.MaxName - longer; its.MaxName > 0 && (t.MaxName == 0 || room < t.MaxName) {
			t.MaxName = room
		}
	}
	return t
}

// Traits returns facts about the driver.
func (d *Driver) Traits() driver.Traits { return d.traits }

// Close waits for work in progress, but not for longer than half a second: nodes that have not answered by then keep
// what they have until its TTL is over. It closes the nodes unless they were passed to New.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	d.events.close()
	defer time.AfterFunc(closeWithin, d.stop).Stop()
	d.background.Wait()
	d.stop()
	if !d.owned {
		for _, n := range d.nodes {
			n.link.unsubscribe()
		}
		return nil
	}
	errs := make([]error, len(d.nodes))
	var all sync.WaitGroup
	for i, n := range d.nodes {
		all.Go(func() { errs[i] = n.close() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// closeWithin is how long requests in progress may take when the driver is closed. They have been sent by then, and a
// node that is well has answered.
const closeWithin = 500 * time.Millisecond

// spawn runs fn in the background. Its context ends a while after the driver was closed, so that what was begun reaches
// the nodes. Until then fn must be bounded by itself. It does nothing when the driver is closed.
func (d *Driver) spawn(fn func(context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.background.Go(func() {
			stack.Grow()
			fn(d.work)
		})
	}
}

// Bounds of how long a node may take to answer.
const (
	leastPatience = 50 * time.Millisecond
	mostPatience  = time.Second
	patiencePart  = 10 // of the TTL
)

// patience is how long a node may take to answer about a claim: far below its TTL.
func (d *Driver) patience(ttl time.Duration) time.Duration {
	if d.timeout > 0 {
		return d.timeout
	}
	return min(max(ttl/patiencePart, leastPatience), mostPatience)
}
