package quorum

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Wait blocks until the claim should be requested again: it has become the first in line, or nodes have become free.
// Now and then it returns without a reason, because messages of the nodes may be lost. It implements [driver.Waiter].
func (d *Driver) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	cl := d.claims.find(c)
	if cl == nil {
		return driver.Status{}, d.wait(ctx, nil, unknownPause)
	}
	cl.mu.Lock()
	st, t, h := cl.state, cl.turn, cl.hints
	cl.mu.Unlock()
	switch {
	case st == over:
		return driver.Status{}, driver.ErrGone
	case st == held:
		return driver.Status{}, d.waitHeld(ctx, cl)
	case h != nil:
		return driver.Status{}, d.waitFirst(ctx, cl, h)
	case t != nil:
		return driver.Status{}, d.waitInLine(ctx, cl, t)
	}
	return driver.Status{}, d.wait(ctx, cl, jittered(longestPause))
}

// waitHeld returns when a claim that is held may have been taken away: when something happened to its lock on one of
// the nodes that have it, and those who did it had the time to reach the others.
func (d *Driver) waitHeld(ctx context.Context, cl *claim) error {
	waiting, stop := d.whileAlive(ctx, cl)
	defer stop()
	at, limit := cl.toWatch()
	waiting, cancel := context.WithTimeout(waiting, limit)
	defer cancel()
	l, err := d.nodes[at].reach(waiting, 0)
	var w driver.Watcher
	watches := false
	if err == nil {
		w, watches = driver.As[driver.Watcher](l.driver)
	}
	switch {
	case err != nil:
		_ = driver.Sleep(waiting, brokenPause) // then the next node may do
	case !watches:
		<-waiting.Done() // renewals tell
	case w.Watch(waiting, nodeName(cl.name)) == nil:
		_ = driver.Sleep(waiting, breakTakes)
	default:
		_ = driver.Sleep(waiting, brokenPause)
	}
	return d.ending(ctx, cl)
}

// toWatch is one of the nodes that have a claim, another one each time, and for how long to watch it. That is short
// at first: what happened before the node was told to watch is found by asking.
func (cl *claim) toWatch() (at int, limit time.Duration) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.watchFor = min(max(2*cl.watchFor, firstWatch), longWait)
	for range cl.held {
		cl.watched = (cl.watched + 1) % len(cl.held)
		if cl.held[cl.watched] != 0 {
			break
		}
	}
	return cl.watched, cl.watchFor
}

// Bounds of one Wait.
const (
	unknownPause = 100 * time.Millisecond
	longWait     = time.Minute
	firstWatch   = 50 * time.Millisecond // then twice as long, and so on
	lineWait     = 2 * time.Second       // a node that keeps a line may have gone
	linePart     = 5                     // of the TTL, if that is less
)

// wait blocks for so long, unless the claim or the driver ends before.
func (d *Driver) wait(ctx context.Context, cl *claim, pause time.Duration) error {
	var gone <-chan struct{}
	if cl != nil {
		gone = cl.alive.Done()
	}
	alarm := time.NewTimer(pause)
	defer alarm.Stop()
	select {
	case <-alarm.C:
		return nil
	case <-gone:
		return driver.ErrGone
	case <-ctx.Done():
		return ctx.Err()
	case <-d.lifetime.Done():
		return driver.ErrClosed
	}
}

// waitFirst waits as the first in line.
func (d *Driver) waitFirst(ctx context.Context, cl *claim, h *hints) error {
	waiting, stop := d.whileAlive(ctx, cl)
	defer stop()
	_ = h.wait(waiting, majority(len(d.nodes))) // whatever ended it, the caller asks again
	return d.ending(ctx, cl)
}

// waitInLine waits until the claim comes to be first.
func (d *Driver) waitInLine(ctx context.Context, cl *claim, t *turn) error {
	waiting, stop := d.whileAlive(ctx, cl)
	defer stop()
	waiting, cancel := context.WithTimeout(waiting, jittered(min(lineWait, cl.ttl()/linePart)))
	defer cancel()
	l, err := d.nodes[t.at].reach(waiting, 0)
	if err == nil {
		var st driver.Status
		if st, err = driver.Wait(waiting, l.driver, cl.inLine(t)); err == nil && st.Granted {
			cl.isFirst(t)
		}
	}
	if err != nil {
		_ = driver.Sleep(waiting, firstPause) // the caller asks again, but not in a frenzy
	}
	return d.ending(ctx, cl)
}

func (cl *claim) inLine(t *turn) driver.Claim {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return t.claim
}

func (cl *claim) isFirst(t *turn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	t.first = true
}

func (cl *claim) ttl() time.Duration {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.ask.TTL
}

// whileAlive returns a context that ends with the claim and with the driver too.
func (d *Driver) whileAlive(ctx context.Context, cl *claim) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stops := []func() bool{context.AfterFunc(d.lifetime, cancel), context.AfterFunc(cl.alive, cancel)}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// ending is why a wait must not go on, if it must not.
func (d *Driver) ending(ctx context.Context, cl *claim) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case cl.alive.Err() != nil:
		return driver.ErrGone
	case d.lifetime.Err() != nil:
		return driver.ErrClosed
	}
	return nil
}

// jittered is about this long, and never in step with others.
func jittered(pause time.Duration) time.Duration { return pause*3/4 + rand.N(pause/4+1) }

// Watch blocks until the lock may have changed hands, as [driver.Watcher] says.
func (d *Driver) Watch(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan error, len(d.nodes))
	for _, n := range d.nodes {
		go func() {
			l, err := n.reach(ctx, 0)
			if err == nil {
				err = driver.Watch(ctx, l.driver, nodeName(name))
			}
			changed <- err
		}()
	}
	var err error
	for range d.nodes {
		select {
		case err = <-changed:
			if err == nil {
				return nil
			}
		case <-d.lifetime.Done():
			return driver.ErrClosed
		}
	}
	return err
}
