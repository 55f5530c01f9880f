package zklock_test

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
	"github.com/holdfast-go/holdfast/internal/servers"
)

// What befalls one member of three, which all clients go on to reach.
var memberFaults = []struct {
	name  string
	leads bool // the member that leads
	soak  bool // only with HOLDFAST_SOAK=1
	begin func(t *testing.T, cluster []*servers.Server, net *servers.Network, i int)
	end   func(t *testing.T, cluster []*servers.Server, net *servers.Network, i int) // nil: it ends by itself, or never
}{
	{name: "a follower is cut off", soak: true, begin: cutOff},
	{name: "the leader is cut off", leads: true, begin: cutOff},
	{name: "the leader is cut off for a while", leads: true, soak: true, begin: cutOff, end: heal},
	{name: "a follower is cut off for a while", soak: true, begin: cutOff, end: heal},
	{name: "a follower is not heard", soak: true, begin: cutFrom},
	{name: "the leader is not heard", soak: true, leads: true, begin: cutFrom},
	{name: "a follower does not hear", soak: true, begin: cutTo},
	{name: "the leader does not hear", soak: true, leads: true, begin: cutTo},
	{name: "a follower is stopped", soak: true, begin: pause, end: resume},
	{name: "the leader is stopped", soak: true, leads: true, begin: pause, end: resume},
	{name: "the disk of a follower stalls", soak: true, begin: stallDisk},
	{name: "the disk of the leader stalls", soak: true, leads: true, begin: stallDisk},
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

// While a majority serves, no holder loses its lock, and a lock that is free can be had, whatever befalls one member.
func TestOneMemberFails(t *testing.T) {
	for _, fault := range memberFaults {
		t.Run(fault.name, func(t *testing.T) {
			if fault.soak && !soak() {
				t.Skip("HOLDFAST_SOAK is not set")
			}
			t.Parallel()
			cluster, net := servers.ZooKeeperApart(t, 3)
			i := slices.IndexFunc(cluster, func(s *servers.Server) bool { return s.ZooKeeperLeads(t) })
			if !fault.leads {
				i = (i + 1) % len(cluster)
			}
			h := newHolders(t, addrs(cluster))
			fault.begin(t, cluster, net, i)
			h.goOn(t, holdfast.DefaultTTL*2/3)
			if fault.end != nil {
				fault.end(t, cluster, net, i)
			}
			h.goOn(t, holdfast.DefaultTTL*2/3)
			h.judge(t)
		})
	}
}

// holders are some clients with locks, all with the settings that they have by default.
type holders struct {
	clients []*holdfast.Client
	leases  []*holdfast.Lease
	fresh   atomic.Int64 // locks that were free and were acquired
	slowest atomic.Int64
}

// election is how long it may take until another member leads: the others notice after syncLimit, two ticks of 2 s, and
// those that have gone elsewhere meanwhile must find it.
const election = 10 * time.Second

func newHolders(t *testing.T, addrs []string) *holders {
	t.Helper()
	h := &holders{}
	for i := range 5 {
		c := holdfast.New(open(t, nil, addrs...))
		h.clients = append(h.clients, c)
		for j := range 10 {
			l, err := c.Mutex(fmt.Sprint("held ", i, " ", j)).Lock(limit(t))
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
	ctx, cancel := context.WithTimeout(t.Context(), election)
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
	if err := l.Release(ctx); err != nil {
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
