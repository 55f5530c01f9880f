package etcdlock_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// listened acquires so many locks, and listens to their leases in every way.
func listened(t *testing.T, c *holdfast.Client, names string, n int) (leases []*holdfast.Lease) {
	t.Helper()
	for i := range n {
		l, err := c.Mutex(fmt.Sprint(names, " ", i), holdfast.WithTTL(long)).Lock(limit(t))
		if err != nil {
			t.Fatal(err)
		}
		l.Context().Done()
		l.Done()
		l.Revoked()
		leases = append(leases, l)
	}
	return leases
}

// Leases that somebody listens to take no goroutines.
func TestListeningTakesNoGoroutines(t *testing.T) {
	addr := server(t).Addr
	c := holdfast.New(open(t, nil, addr))
	defer c.Close(limit(t))
	listened(t, c, "few", 10)
	before := runtime.NumGoroutine()
	listened(t, c, "many", 300)
	until(t, "it takes none", func() bool { return runtime.NumGoroutine() < before+100 })
}

// What happens while the stream is broken, and the history of that is compacted, is heard afterwards.
func TestListenersHearWhatTheyMissed(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	for name, compacted := range map[string]bool{"replayed": false, "compacted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoundabout(t, cluster)
			other, client := holdfast.New(open(t, nil, addrs(cluster)...)), dial(t, addrs(cluster)...)
			l := listened(t, holdfast.New(r.Driver), name, 3)
			for _, p := range r.proxies {
				p.BlackHole()
			}
			if err := other.Revoke(limit(t), l[0].Name()); err != nil {
				t.Fatal(err)
			}
			queue, err := other.Queue(limit(t), l[1].Name())
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Break(limit(t), l[1].Name(), queue[0].ID); err != nil {
				t.Fatal(err)
			}
			if compacted {
				put, err := client.Put(limit(t), "unrelated", "x")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Compact(limit(t), put.Header.Revision); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range r.proxies {
				p.Heal()
			}
			began := time.Now()
			<-l[0].Revoked()
			<-l[1].Done()
			t.Logf("heard after %v", time.Since(began))
			if l[2].Err() != nil {
				t.Errorf("a lease to which nothing happened: %v", l[2].Err())
			}
		})
	}
}
