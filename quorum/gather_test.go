package quorum_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// A gatherer is a node over a network that gains by batches. It counts them.
type gatherer struct {
	old
	away    atomic.Bool // nothing reaches it
	mu      sync.Mutex
	batches map[driver.Kind][]int // how many operations of a kind came together
}

func (g *gatherer) Traits() driver.Traits {
	t := g.old.Traits()
	t.Alone, t.MaxInFlight = 1, 1
	return t
}

func (g *gatherer) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	of := make(map[driver.Kind]int)
	for _, op := range batch {
		of[op.Kind]++
	}
	g.mu.Lock()
	for kind, n := range of {
		g.batches[kind] = append(g.batches[kind], n)
	}
	g.mu.Unlock()
	if g.away.Load() {
		for i := range batch {
			done(i, driver.Result{Err: fmt.Errorf("%w: no connection", driver.ErrUnsent)})
		}
		return
	}
	time.Sleep(5 * time.Millisecond)
	g.old.Do(ctx, batch, done)
}

// came returns how many operations of a kind came together since it was asked last, for each batch.
func (g *gatherer) came(kind driver.Kind) []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	sizes := g.batches[kind]
	delete(g.batches, kind)
	return sizes
}

// gatherers makes a quorum of such nodes.
func gatherers(t *testing.T) (*client, []*gatherer) {
	all := make([]*gatherer, 3)
	nodes := make([]driver.Driver, len(all))
	for i := range all {
		all[i] = &gatherer{old: old{memlock.New()}, batches: make(map[driver.Kind][]int)}
		nodes[i] = all[i]
	}
	return quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl}), all
}

const manyClaims = 100

// acquireMany has claims on as many locks granted, all at the same time.
func acquireMany(t *testing.T, d *client) []driver.Claim {
	held := make([]driver.Claim, manyClaims)
	var all sync.WaitGroup
	for i := range held {
		all.Go(func() { held[i] = acquire(t, d, claim(fmt.Sprint("job ", i))) })
	}
	all.Wait()
	synctest.Wait()
	return held
}

// Claims that are requested at the same time are proposed to each node in a few batches, and given back in a few.
func TestVotesGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, nodes := gatherers(t)
		held := acquireMany(t, d)
		var all sync.WaitGroup
		for _, c := range held {
			all.Go(func() { release(t, d, c) })
		}
		all.Wait()
		synctest.Wait()
		for i, n := range nodes {
			for _, kind := range []driver.Kind{driver.OpPropose, driver.OpRelease} {
				if sizes := n.came(kind); len(sizes) == 0 || len(sizes) > 5 {
					t.Errorf("node %d: %v in batches of %v, for %d claims", i, kind, sizes, manyClaims)
				}
			}
		}
	})
}

// A claim that did not reach a node is not given back there. Where it may be, it is.
func TestUnsentIsNotUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, nodes := gatherers(t)
		nodes[0].away.Store(true)
		nodes[1].away.Store(true)
		if _, err := d.Request(t.Context(), try(claim("jobs"))); err == nil {
			t.Error("one node of three granted a claim")
		}
		synctest.Wait()
		for i, n := range nodes {
			if sent := len(n.came(driver.OpPropose)); sent == 0 {
				t.Errorf("nothing was proposed to node %d", i)
			}
			if back := len(n.came(driver.OpRelease)); (back > 0) != (i == 2) {
				t.Errorf("node %d was told %d times that the claim is given back", i, back)
			}
		}
	})
}

// Claims that are held are renewed by one batch for each node.
func TestRenewalsAreOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, nodes := gatherers(t)
		batch := make([]driver.Op, manyClaims)
		for i, c := range acquireMany(t, d) {
			batch[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true}
		}
		pass(time.Second) // until every node has answered
		for _, n := range nodes {
			n.came(driver.OpRequest)
		}
		var answers atomic.Int64
		d.Do(t.Context(), batch, func(i int, r driver.Result) {
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("claim %d: %+v", i, r)
			}
			answers.Add(1)
		})
		synctest.Wait()
		if answers.Load() != manyClaims {
			t.Errorf("%d answers for %d claims", answers.Load(), manyClaims)
		}
		for i, n := range nodes {
			if sizes := n.came(driver.OpRequest); len(sizes) != 1 || sizes[0] != manyClaims {
				t.Errorf("node %d was asked for the claims in batches of %v, want one", i, sizes)
			}
		}
	})
}
