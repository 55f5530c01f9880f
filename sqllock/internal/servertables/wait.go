package servertables

import (
	"context"
	"runtime"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// wait blocks until there is news of a claim.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	p := d.enter(c)
	defer d.leave(p)
	select {
	case n := <-p.news:
		return n.status, n.err
	case <-d.requests.open.Done():
		return driver.Status{}, driver.ErrClosed
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}

// enter begins a wait. A claim that is not known was granted by the answer to its request.
func (d *Driver) enter(c driver.Claim) *subscription {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.byID[c.ID]
	if p == nil {
		p = n.add(c, driver.Status{Token: c.Token, Granted: true})
	}
	p.waiters++
	switch {
	case d.requests.open.Err() != nil:
	case p.told.Granted && !n.guards:
		n.guards = true
		n.ended.Go(d.guard)
	case !p.told.Granted && d.endpoint.shared.Load():
		d.pollSoon()
	case !p.told.Granted:
		d.await(p)
	}
	return p
}

func (d *Driver) leave(p *subscription) {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	p.waiters--
	n.tidy(p)
}

// await adds a claim to those that are waited for. One that is older than the claim which is being waited for takes its
// place, because it may be granted first; and so does one that comes when that claim is gone. See isLeft.
func (d *Driver) await(p *subscription) {
	n, name := &d.notifier, p.claim.Name
	l := n.awaited[name]
	if l == nil {
		l = &awaited{name: name, waiting: make(map[string]*subscription)}
		n.awaited[name] = l
		d.attend(l)
	}
	l.waiting[p.claim.ID] = p
	if on := l.on; on != nil && (p.claim.Token < on.claim.Token || n.byID[on.claim.ID] != on) {
		on.stop()
	}
}

// A wait in the server is begun anew after this time. A statement holds a snapshot for as long as it lasts, for which
// others wait (CREATE INDEX CONCURRENTLY), and from a second on servers log it as slow. The routine waits no longer
// than this either, whatever it is told. If a wait is not answered some time later, its connection is dead.
const (
	longestWait = 800 * time.Millisecond
	lateWait    = 4 * time.Second
)

// follow waits in the server for the oldest claim for an awaited lock, as long as somebody wants to know, and then
// for those of other locks, which have no sleeper. It ends with the pool, or when there is no such lock, or no
// connection.
func (d *Driver) follow(l *awaited) {
	var conn *conn
	defer func() { d.idle.take(conn) }()
	for l != nil {
		p, ctx := d.oldest(l)
		if p == nil {
			l = d.notifier.nextOfCrowd(d.requests.open)
			continue
		}
		if conn == nil {
			conn, _ = d.idle.give(ctx)
		}
		if conn == nil {
			d.toCrowd(l)
			return
		}
		w := d.sleep(conn, p)
		if d.isLeft(ctx, w) {
			conn = nil
			continue
		}
		a, err := w.answer, w.err
		if err != nil {
			conn.close() // it broke, or the driver is closed
			conn = nil
			if !d.dialect.isBusy(err) && ctx.Err() == nil {
				driver.Sleep(ctx, netPause)
			}
			continue
		}
		d.learn(ctx, p, a)
	}
}

// A wait is one statement that waits in the server.
type wait struct {
	conn   *conn
	on     *subscription
	ended  chan struct{}
	answer answer // once it has ended, like err
	err    error
}

// sleep begins to wait in the server for a claim.
func (d *Driver) sleep(c *conn, p *subscription) *wait {
	w := &wait{conn: c, on: p, ended: make(chan struct{})}
	sleeps := d.endpoint.wakeLocks() > 0
	go func() { // ends soon after longestWait, also once the driver is closed: see closingGrace
		defer close(w.ended)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.requests.open), longestWait+lateWait)
		defer cancel()
		over := time.Now().Add(longestWait + closingGrace)
		closed := context.AfterFunc(d.requests.open, func() { time.AfterFunc(time.Until(over), cancel) })
		defer closed()
		w.answer, w.err = c.ask(ctx, waitForClaim, []byte(p.claim.Name), p.claim.ID, micros(longestWait), sleeps)
	}()
	return w
}

// isLeft waits until a wait has ended. If ctx ends first, and one sleeper more is allowed, the wait is left to end by
// itself, with its connection: a statement that is cancelled is an error in the server's log.
func (d *Driver) isLeft(ctx context.Context, w *wait) bool {
	select {
	case <-w.ended:
		return false
	case <-ctx.Done():
	}
	if !d.notifier.oneSleeperMore(d.sleepers) {
		<-w.ended
		return false
	}
	d.notifier.ended.Go(func() { d.finish(w) })
	return true
}

// finish passes on what a wait that was left has learnt, and gives its connection back.
func (d *Driver) finish(w *wait) {
	defer d.notifier.oneSleeperLess()
	if <-w.ended; w.err != nil {
		w.conn.close()
		return
	}
	d.learn(d.requests.open, w.on, w.answer)
	d.idle.take(w.conn)
}

// oldest picks the claim to wait for. If nobody waits for the lock any more, it is nil, and the lock is not awaited.
func (d *Driver) oldest(l *awaited) (*subscription, context.Context) {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	var first *subscription
	for _, p := range l.waiting {
		if p.waiters > 0 && (first == nil || p.claim.Token < first.claim.Token) {
			first = p
		}
	}
	if first == nil || d.requests.open.Err() != nil {
		delete(n.awaited, l.name)
		return nil, nil
	}
	if first.stop != nil {
		first.stop()
	}
	ctx, cancel := context.WithCancel(d.requests.open)
	first.stop, l.on = cancel, first
	return first, ctx
}

// netPause is how long an awaited lock is left alone after its connection broke.
const netPause = 250 * time.Millisecond

// askPause is how long a claim is left alone whose caller was told to ask.
const askPause = 10 * time.Millisecond

// learn passes on what the server said about a claim that waits. The news may end ctx, while the wake locks of the
// claim are to be taken down nevertheless.
func (d *Driver) learn(ctx context.Context, p *subscription, a answer) {
	switch a.outcome {
	case isThere:
		d.notifier.tell(p, notice{status: a.status})
		runtime.Gosched() // who has been granted the lock goes first
	case isGone:
		d.notifier.tell(p, notice{err: driver.ErrGone})
	case askAgain:
		d.notifier.tell(p, notice{})
		driver.Sleep(ctx, askPause) // the caller asks meanwhile, or has given up
		return
	case nothing:
		return
	}
	if l, held := d.requests.wakeLane(p.claim); held && l.wakeLocks.isStale(p.claim.ID, a) {
		d.repair(l, &repairs{over: []driver.Claim{p.claim}, answers: []answer{a}})
	}
}

// guardPause is how often held claims are looked at, all together, on behalf of those who want to know when one is
// revoked or broken.
const guardPause = time.Second

// guardMost bounds how many of them at a time: of more, some are drawn.
const guardMost = 256

// guard looks at held claims as long as somebody wants to know. It ends with the session.
func (d *Driver) guard() {
	for {
		held := d.held()
		if held == nil || driver.Sleep(d.requests.open, guardPause) != nil {
			return
		}
		claims := make([]driver.Claim, len(held))
		for i, p := range held {
			claims[i] = p.claim
		}
		answers, err := d.inspect(claims)
		if err != nil {
			continue
		}
		for i, a := range answers {
			d.notifier.answered(claims[i], a.status, a.err())
		}
	}
}

// held returns claims that are granted and waited for; none, and the end of the guard, when there are none.
func (d *Driver) held() (held []*subscription) {
	n := &d.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.byID {
		if p.waiters > 0 && p.told.Granted && len(held) < guardMost {
			held = append(held, p)
		}
	}
	n.guards = held != nil && d.requests.open.Err() == nil
	return held
}
