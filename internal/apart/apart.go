// Package apart is a test of engines whose data several servers have: one of them fails, in a network of their own,
// while clients hold locks and acquire others.
package apart

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// An Ensemble is what engines differ in.
type Ensemble struct {
	Start  func(t *testing.T) ([]*servers.Server, *servers.Network) // three servers
	Leader func(t *testing.T, cluster []*servers.Server) int
	Open   func(t testing.TB, addrs ...string) driver.Driver // closed with the test
	// a lock that is free may take so long while others elect a leader
	Election time.Duration
	// the names of faults that are tried outside of soaks: the first in make test, all in make test-long
	Always []string
}

// A fault befalls one server of three, which all clients go on to reach.
type fault struct {
	name  string
	leads bool // the one that leads
	begin func(t *testing.T, cluster []*servers.Server, net *servers.Network, i int)
	end   func(t *testing.T, cluster []*servers.Server, net *servers.Network, i int) // nil: it ends by itself, or never
}

var faults = []fault{
	{name: "a follower is cut off", begin: cutOff},
	{name: "the leader is cut off", leads: true, begin: cutOff},
	{name: "the leader is cut off for a while", leads: true, begin: cutOff, end: heal},
	{name: "a follower is cut off for a while", begin: cutOff, end: heal},
	{name: "a follower is not heard", begin: cutFrom},
	{name: "the leader is not heard", leads: true, begin: cutFrom},
	{name: "a follower does not hear", begin: cutTo},
	{name: "the leader does not hear", leads: true, begin: cutTo},
	{name: "a follower is stopped", begin: pause, end: resume},
	{name: "the leader is stopped", leads: true, begin: pause, end: resume},
	{name: "the disk of a follower stalls", begin: stallDisk},
	{name: "the disk of the leader stalls", leads: true, begin: stallDisk},
}

func cutOff(t *testing.T, _ []*servers.Server, net *servers.Network, i int) { net.CutOff(t, i) }
func heal(t *testing.T, _ []*servers.Server, net *servers.Network, _ int)   { net.Heal(t) }

func cutFrom(t *testing.T, cluster []*servers.Server, net *servers.Network, i int) {
	for other := range cluster {
		if other != i {
			net.Cut(t, i, other)
		}
	}
}

func cutTo(t *testing.T, cluster []*servers.Server, net *servers.Network, i int) {
	for other := range cluster {
		if other != i {
			net.Cut(t, other, i)
		}
	}
}

func pause(t *testing.T, cluster []*servers.Server, _ *servers.Network, i int)  { cluster[i].Pause(t) }
func resume(t *testing.T, cluster []*servers.Server, _ *servers.Network, i int) { cluster[i].Resume(t) }

func stallDisk(t *testing.T, cluster []*servers.Server, _ *servers.Network, i int) {
	cluster[i].StallDisk(t, 10*time.Second)
}

// Run tries the faults. While a majority serves, no holder loses its lock, and a lock that is free can be had.
func Run(t *testing.T, e Ensemble) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			switch slices.Index(e.Always, f.name) {
			case -1:
				effort.Soak(t)
			case 0:
			default:
				effort.Long(t)
			}
			t.Parallel()
			f.try(t, e)
		})
	}
}

func (f fault) try(t *testing.T, e Ensemble) {
	cluster, net := e.Start(t)
	i := e.Leader(t, cluster)
	if !f.leads {
		i = (i + 1) % len(cluster)
	}
	h := newHolders(t, e, cluster)
	f.begin(t, cluster, net, i)
	h.goOn(t, holdfast.DefaultTTL*2/3)
	if f.end != nil {
		f.end(t, cluster, net, i)
	}
	h.goOn(t, holdfast.DefaultTTL*2/3)
	h.judge(t)
}

// holders are some clients with locks, all with the settings that they have by default.
type holders struct {
	clients []*holdfast.Client
	leases  []*holdfast.Lease
	fresh   atomic.Int64 // locks that were free and were acquired
	slowest atomic.Int64

	election time.Duration
}

func newHolders(t *testing.T, e Ensemble, cluster []*servers.Server) *holders {
	t.Helper()
	h := &holders{election: e.Election}
	var addrs []string
	for _, s := range cluster {
		addrs = append(addrs, s.Addr)
	}
	for i := range 5 {
		c := holdfast.New(e.Open(t, addrs...))
		h.clients = append(h.clients, c)
		for j := range 10 {
			l, err := c.Mutex(fmt.Sprint("held ", i, " ", j)).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h.leases = append(h.leases, l)
		}
	}
	return h
}

// goOn lets all clients acquire free locks for so long.
func (h *holders) goOn(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range h.clients {
		wg.Go(func() {
			for ; ctx.Err() == nil; driver.Sleep(ctx, 100*time.Millisecond) {
				h.lockFree(t, c)
			}
		})
	}
	wg.Wait()
}

func (h *holders) lockFree(t *testing.T, c *holdfast.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), h.election)
	defer cancel()
	began := time.Now()
	l, err := c.Mutex(fmt.Sprint("free ", h.fresh.Add(1))).Lock(ctx)
	if took := time.Since(began); took > time.Duration(h.slowest.Load()) {
		h.slowest.Store(int64(took))
	}
	if err != nil {
		t.Errorf("a lock that is free: %v", err)
		return
	}
	leaving, done := context.WithTimeout(t.Context(), h.election)
	defer done()
	if err := l.Release(leaving); err != nil {
		t.Errorf("Release: %v", err)
	}
}

// judge fails unless all leases live.
func (h *holders) judge(t *testing.T) {
	t.Helper()
	lost := 0
	for _, l := range h.leases {
		if l.Err() != nil {
			lost++
		}
		go l.Release(context.Background())
	}
	t.Logf("%d of %d holders lost their lock; %d free locks, the slowest after %v", lost, len(h.leases),
		h.fresh.Load(), time.Duration(h.slowest.Load()))
	if lost > 0 {
		t.Errorf("%d of %d holders lost their lock", lost, len(h.leases))
	}
}
