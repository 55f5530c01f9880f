package redislock

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// flows are the connections that a client has open. One may be dead without a word: what is sent over it vanishes,
// nothing comes, and new connections work. A firewall that forgot a connection does that, or an address that moved.
// TCP notices after minutes. So a connection on which an attempt was not answered, and on which nothing else came, is
// closed: the next attempt goes over a new one.
type flows struct {
	blocks  time.Duration // how long a command may take by itself
	connect time.Duration // until when the first answer must have come on a new connection

	calm atomic.Int64 // when the patience is at its least again: see patience

	closed  atomic.Int64 // when a connection was closed last, as a time since started; zero: never
	greeted atomic.Int64 // when a server has greeted on a new one last

	mu      sync.Mutex
	open    map[*coalescingConn]struct{}
	dialing map[*dialing]struct{}
	over    bool // the driver is closed
}

func newFlows() *flows {
	return &flows{open: make(map[*coalescingConn]struct{}), dialing: make(map[*dialing]struct{})}
}

// Bounds of how long a connection may be silent while an answer is missing. Where an attempt gave up, silence is
// suspicious early, but not before answers usually come: others may wait for theirs on the same connection. The other
// bound is for where nobody waits: a client sends a ping every second on connections on which nothing comes,
// subscriptions among them, and nobody gives up on the answers to these.
const (
	suspicious = 100 * time.Millisecond
	silent     = 3 * time.Second
)

// A dialing is a connection that is being made, up to where the server is greeted.
type dialing struct{ stop context.CancelCauseFunc }

// dial makes a connection.
func (f *flows) dial(ctx context.Context, connect func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := &dialing{stop}
	f.mu.Lock()
	f.dialing[d] = struct{}{}
	over := f.over
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.dialing, d)
	}()
	if over {
		return nil, driver.ErrClosed
	}
	c, err := connect(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return f.add(c, err)
}

// add takes what a dialer returns.
func (f *flows) add(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	b := newCoalescingConn(c)
	f.mu.Lock()
	over := f.over
	if !over {
		f.open[b] = struct{}{}
	}
	f.mu.Unlock()
	if over {
		b.Close()
		return nil, driver.ErrClosed
	}
	b.closing = func() {
		f.closed.Store(int64(time.Since(started)))
		f.remove(b)
	}
	b.greeted = func() { f.greeted.Store(int64(time.Since(started))) }
	b.closeAfterSilence(silent + f.blocks)
	time.AfterFunc(f.connect, func() {
		if b.pulse.neverHeard() {
			b.giveUp(errNotConnected(f.connect))
		}
	})
	return b, nil
}

// cut closes all connections, and those that are being made or are made later.
func (f *flows) cut() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.over = true
	open, dialing := slices.Collect(maps.Keys(f.open)), slices.Collect(maps.Keys(f.dialing))
	f.mu.Unlock()
	for _, d := range dialing {
		d.stop(driver.ErrClosed)
	}
	for _, b := range open {
		b.giveUp(driver.ErrClosed)
	}
}

func (f *flows) remove(b *coalescingConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, b)
}

// isConnecting reports whether the next command may have to wait for a new connection: rueidis makes one for all that
// wait, and looks at the contexts of none.
func (f *flows) isConnecting() bool { return f != nil && f.closed.Load() > f.greeted.Load() }

// answered notes when a call has ended that began at an instant. If it was given up, the connections that have been
// silent for all of it are closed.
func (f *flows) answered(ctx context.Context, began time.Duration, answered bool) {
	switch {
	case f == nil:
	case answered:
		f.learn(time.Since(started) - began)
	case ctx.Err() != nil:
		f.suspect(began)
	}
}

// forgets is by how much longer than an answer may be missing it takes until that is forgotten. What is forgotten with
// time, and not with answers that are quicker, lasts beside a server of a cluster that gives many of these.
const forgets = 10

// patience is how long an answer may be missing before it is suspicious.
func (f *flows) patience() time.Duration {
	left := time.Duration(f.calm.Load()) - time.Since(started)
	return min(max(left/forgets, suspicious), silent)
}

// learn notes how long an answer took.
func (f *flows) learn(took time.Duration) {
	if d := 2 * took; d > suspicious { // as few are
		f.bear(d)
	}
}

// bear has the patience last for so long at least.
func (f *flows) bear(d time.Duration) {
	calm := int64(time.Since(started) + forgets*min(d, silent))
	for before := f.calm.Load(); before < calm && !f.calm.CompareAndSwap(before, calm); {
		before = f.calm.Load()
	}
}

// suspect closes the connections on which an answer is missing and nothing has come after an instant. The next ones
// have longer: perhaps those were well, and answers take that long now.
func (f *flows) suspect(since time.Duration) {
	var dead []*coalescingConn
	f.mu.Lock()
	patience := f.patience()
	for b := range f.open {
		if b.pulse.silence() >= patience+f.blocks && !b.pulse.heardSince(since) {
			dead = append(dead, b)
			delete(f.open, b)
		}
	}
	if len(dead) > 0 {
		f.bear(2 * patience)
	}
	f.mu.Unlock()
	for _, b := range dead {
		b.giveUp(errSilent(b.pulse.silence()))
	}
}

// errNotConnected is why a new connection is given up.
func errNotConnected(patience time.Duration) error {
	return fmt.Errorf("nothing came within %v of connecting; connecttimeout in the URL gives it longer", patience)
}

// errSilent is why a connection is given up that seems to be dead.
func errSilent(silence time.Duration) error {
	return fmt.Errorf("the connection was given up: no answer came for %v", silence.Round(time.Millisecond))
}
