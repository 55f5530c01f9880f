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
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// A part is a node in memory that can hang, as a stopped process does, and come back empty.
type part struct {
	votes   atomic.Int64 // that it was asked for
	lag     atomic.Int64 // for how long its answers are on their way, in ns
	hung    atomic.Int64 // requests that it does not answer
	watched atomic.Int64 // how many watch one of its queues
	lost    atomic.Int64 // questions which engine it is that are lost from now on
	wrong   atomic.Bool  // its clock is wrong: it refuses what is proposed

	mu    sync.Mutex
	store *memlock.Driver
	back  chan struct{} // closed when it hangs no more; nil while it answers
}

func newPart() *part { return &part{store: memlock.New()} }

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
func (p *part) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.store = memlock.New()
}

// become makes this another name of another node.
func (p *part) become(other *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.store = other.store
}

// view is the same nodes as another client sees them.
func (ps parts) view() parts {
	same := make(parts, len(ps))
	for i, p := range ps {
		same[i] = &part{store: p.store}
	}
	return same
}

// reach returns the store once the node answers. A request that was given up never arrives.
func (p *part) reach(ctx context.Context) (*memlock.Driver, error) {
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

func (p *part) Traits() driver.Traits { return p.store.Traits() }
func (p *part) Close() error          { return nil }

func (p *part) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	s, err := p.reach(ctx)
	if err != nil {
		return driver.Status{}, err
	}
	return s.Request(ctx, c)
}

func (p *part) Release(ctx context.Context, c driver.Claim) error {
	s, err := p.reach(ctx)
	if err != nil {
		return err
	}
	return s.Release(ctx, c)
}

func (p *part) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	s, err := p.reach(ctx)
	if err != nil {
		return nil, err
	}
	return s.Queue(ctx, name)
}

func (p *part) Break(ctx context.Context, name, id string) error {
	s, err := p.reach(ctx)
	if err != nil {
		return err
	}
	return s.Break(ctx, name, id)
}

func (p *part) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	s, err := p.reach(ctx)
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return s.List(ctx, prefix)
}

func (p *part) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, error) {
	st, _, err := p.Vote(ctx, c, token)
	return st, err
}

func (p *part) Vote(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	p.votes.Add(1)
	s, err := p.reach(ctx)
	if err != nil {
		return driver.Status{}, driver.Life{}, err
	}
	if p.wrong.Load() {
		return driver.Status{}, driver.Life{}, fmt.Errorf("compare the clocks: %w", driver.ErrRefused)
	}
	defer func() { time.Sleep(time.Duration(p.lag.Load())) }()
	return s.Vote(ctx, c, token)
}

func (p *part) Life(ctx context.Context) (driver.Life, error) {
	s, err := p.reach(ctx)
	if err == nil && p.lost.Add(-1) >= 0 {
		err = errors.New("connection reset")
	}
	if err != nil {
		return driver.Life{}, err
	}
	return s.Life(ctx)
}

func (p *part) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	s, err := p.reach(ctx)
	if err != nil {
		return driver.Status{}, err
	}
	return s.Wait(ctx, c)
}

func (p *part) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	s, err := p.reach(ctx)
	if err != nil {
		return nil, err
	}
	return s.Listen(ctx, c, moved)
}

func (p *part) Watch(ctx context.Context, name string) error {
	s, err := p.reach(ctx)
	if err != nil {
		return err
	}
	p.watched.Add(1)
	defer p.watched.Add(-1)
	return s.Watch(ctx, name)
}

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
func settle(t *testing.T, d driver.Driver) {
	c := claim("settle")
	acquire(t, d, c)
	synctest.Wait()
	release(t, d, c)
	synctest.Wait()
}

func (ps parts) client(t testing.TB) *client {
	t.Helper()
	nodes := make([]driver.Either, len(ps))
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
func await(t testing.TB, d driver.Driver, c driver.Claim) driver.Claim {
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

func wait(d driver.Driver, c driver.Claim, retry time.Duration) {
	ctx := context.Background()
	if retry > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, retry)
		defer cancel()
	}
	driver.Wait(ctx, d, c) // the caller asks again, whatever it says
}
