package quorum_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// A part is a node in memory that can hang, as a stopped process does, and come back empty.
type part struct {
	votes atomic.Int64 // that it was asked for
	lag   atomic.Int64 // for how long its answers are on their way, in ns
	hung  atomic.Int64 // requests that it does not answer
	lost  atomic.Int64 // questions which engine it is that are lost from now on
	wrong atomic.Bool  // its clock is wrong: it refuses what is proposed

	mu      sync.Mutex
	store   *drivertest.Facade
	tells   map[*func(driver.Event)]struct{}
	watched map[string]bool // the queues of which a change is to be told
	back    chan struct{}   // closed when it hangs no more; nil while it answers
}

func newPart() *part { return partOf(drivertest.NewFacade(memlock.New())) }

// partOf returns a node that keeps its claims in a store.
func partOf(store *drivertest.Facade) *part {
	p := &part{tells: make(map[*func(driver.Event)]struct{}), watched: make(map[string]bool)}
	p.use(store)
	return p
}

// use has the node keep its claims in a store from now on.
func (p *part) use(store *drivertest.Facade) {
	p.mu.Lock()
	p.store = store
	p.mu.Unlock()
	store.Subscribe(p.tell)
}

// tell passes an event on.
func (p *part) tell(e driver.Event) {
	p.mu.Lock()
	var tells []func(driver.Event)
	for tell := range p.tells {
		tells = append(tells, *tell)
	}
	if e.ID == "" {
		delete(p.watched, e.Name)
	}
	p.mu.Unlock()
	for _, tell := range tells {
		tell(e)
	}
}

// Subscribe implements [driver.Driver].
func (p *part) Subscribe(tell func(driver.Event)) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tells[&tell] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.tells, &tell)
	}
}

// watches is how many of its queues are watched.
func (p *part) watches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.watched)
}

func (p *part) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back = make(chan struct{})
}

func (p *part) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.back)
	p.back = nil
}

// restart forgets everything.
func (p *part) restart() { p.use(drivertest.NewFacade(memlock.New())) }

// become makes this another name of another node.
func (p *part) become(other *part) { p.use(other.store) }

// view is the same nodes as another client sees them.
func (ps parts) view() parts {
	same := make(parts, len(ps))
	for i, p := range ps {
		same[i] = partOf(p.store)
	}
	return same
}

// reach returns the store once the node answers. A request that was given up never arrives.
func (p *part) reach(ctx context.Context) (*drivertest.Facade, error) {
	p.mu.Lock()
	back := p.back
	p.mu.Unlock()
	if back != nil {
		p.hung.Add(1)
		defer p.hung.Add(-1)
		select {
		case <-back:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store, nil
}

// Traits implements [driver.Driver].
func (p *part) Traits() driver.Traits {
	t := p.store.Traits()
	t.Store = ""
	t.Ops = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpQueue, driver.OpBreak, driver.OpPropose,
		driver.OpLife, driver.OpWatch)
	return t
}

// Close implements [driver.Driver].
func (p *part) Close() error { return nil }

// Do implements [driver.Driver]. Each operation goes its own way.
func (p *part) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	driver.DoEach(batch, done, func(op driver.Op) driver.Result { return p.do(ctx, op) })
}

func (p *part) do(ctx context.Context, op driver.Op) (r driver.Result) {
	if op.Kind == driver.OpPropose {
		p.votes.Add(1)
	}
	store, err := p.reach(ctx)
	switch {
	case err != nil:
		return driver.Result{Err: err}
	case op.Kind == driver.OpPropose && p.wrong.Load():
		return driver.Result{Err: fmt.Errorf("compare the clocks: %w", driver.ErrRefused)}
	case op.Kind == driver.OpPropose:
		defer func() { time.Sleep(time.Duration(p.lag.Load())) }()
	case op.Kind == driver.OpLife && p.lost.Add(-1) >= 0:
		return driver.Result{Err: errors.New("connection reset")}
	case op.Kind == driver.OpWatch:
		p.mu.Lock()
		p.watched[op.Claim.Name] = true
		p.mu.Unlock()
	}
	store.Do(ctx, []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// List implements [driver.Lister].
func (p *part) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	store, err := p.reach(ctx)
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return driver.List(ctx, store, prefix)
}

// passOn passes an operation on to the node behind an interceptor.
type passOn = func(driver.Op) driver.Result

// parts are the nodes of a quorum.
type parts []*part

const ttl = 10 * time.Second // the longest

// inTime runs a test with so many nodes, old enough to vote, in a bubble where time passes only when all wait for it.
func inTime(t *testing.T, n int, test func(*testing.T, parts)) {
	synctest.Test(t, func(t *testing.T) {
		ps := make(parts, n)
		for i := range ps {
			ps[i] = newPart()
		}
		pass(ttl)
		settle(t, ps.client(t))
		test(t, ps)
	})
}

// settle lets a quorum find out that all its nodes are new.
func settle(t *testing.T, d *client) {
	c := claim("settle")
	acquire(t, d, c)
	synctest.Wait()
	release(t, d, c)
	synctest.Wait()
}

func (ps parts) client(t testing.TB) *client {
	t.Helper()
	nodes := make([]driver.Driver, len(ps))
	for i, p := range ps {
		nodes[i] = p
	}
	return quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl})
}

func (ps parts) each(fn func(*part)) {
	for _, p := range ps {
		fn(p)
	}
}

// having is how many nodes have a claim on a lock.
func (ps parts) having(t testing.TB, name string) int {
	t.Helper()
	n := 0
	for _, p := range ps {
		entries, err := p.store.Queue(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		n += len(entries)
	}
	return n
}

// have fails unless so many claims on a lock are on the nodes.
func (ps parts) have(t testing.TB, name string, want int) {
	t.Helper()
	if n := ps.having(t, name); n != want {
		t.Errorf("%d claims on %s are on the nodes, want %d", n, name, want)
	}
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func claim(name string) driver.Claim { return claimed.Mutex(name, ttl) }

var acquire, release, try = claimed.Acquire, claimed.Release, claimed.Try

// await requests a claim until it is granted, as the core does.
func await(t testing.TB, d *client, c driver.Claim) driver.Claim {
	for {
		st, err := d.Request(context.Background(), c)
		if err != nil {
			t.Errorf("Request: %v", err)
			return c
		}
		if st.Granted {
			c.Token = st.Token
			return c
		}
		wait(d, c, st.Retry)
	}
}

func wait(d *client, c driver.Claim, retry time.Duration) {
	ctx := context.Background()
	if retry > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, retry)
		defer cancel()
	}
	d.Wait(ctx, c) // the caller asks again, whatever it says
}
