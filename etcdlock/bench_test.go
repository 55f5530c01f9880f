package etcdlock_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// BenchmarkCycle acquires and releases a lock that is free.
func BenchmarkCycle(b *testing.B) {
	for name, addrs := range map[string][]string{
		"one server":    {servers.Etcd(b).Addr},
		"three servers": addrs(servers.EtcdCluster(b, 3)),
	} {
		b.Run(name, func(b *testing.B) {
			d := open(b, nil, addrs...)
			release(b, d, acquire(b, d, claim("warm up", long)))
			for b.Loop() {
				release(b, d, acquire(b, d, claim("job", long)))
			}
		})
	}
}

// BenchmarkAlone shows what gathering gains. docs/speed.md says why the driver's Traits.Alone is what it is.
func BenchmarkAlone(b *testing.B) {
	d := open(b, nil, servers.Etcd(b).Addr)
	release(b, d, acquire(b, d, claim("warm up", time.Minute)))
	drivertest.BenchmarkAlone(b, d, 1, 2, 4)
}

// BenchmarkGap measures for how long nobody has a lock that two clients pass to and fro, beside etcd's own mutex. That
// one watches from a revision that has passed, which the server attends to ten times a second.
func BenchmarkGap(b *testing.B) {
	addr := servers.Etcd(b).Addr
	var ours, theirs [2]func() func()
	for i := range 2 {
		d := open(b, nil, addr)
		ours[i] = func() func() {
			c, st := request(b, d, claim("job", long))
			if !st.Granted {
				mustBeGranted(b, d, c)
			}
			return func() { release(b, d, c) }
		}
		session := peerSession(b, addr)
		theirs[i] = func() func() {
			m := concurrency.NewMutex(session, "peers")
			if err := m.Lock(limit(b)); err != nil {
				b.Error(err)
			}
			return func() { m.Unlock(limit(b)) }
		}
	}
	for name, lock := range map[string][2]func() func(){"ours": ours, "etcd's own": theirs} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(gap(b, max(b.N, 10), lock).Seconds()*1000, "ms/gap")
		})
	}
}

// gap lets two clients pass a lock to and fro, each holding it for 5 ms, and returns how long nobody had it in the
// median.
func gap(b *testing.B, rounds int, lock [2]func() (unlock func())) time.Duration {
	b.Helper()
	var mu sync.Mutex
	var left time.Time
	var idle []time.Duration
	each(2, func(i int) {
		for range rounds {
			unlock := lock[i]()
			mu.Lock()
			if !left.IsZero() {
				idle = append(idle, time.Since(left))
			}
			mu.Unlock()
			driver.Sleep(b.Context(), 5*time.Millisecond)
			mu.Lock()
			left = time.Now()
			mu.Unlock()
			unlock()
		}
	})
	slices.Sort(idle)
	return idle[len(idle)/2]
}
