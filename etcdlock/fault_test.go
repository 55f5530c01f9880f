package etcdlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/apart"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestLostAnswerOfARequestThatIsUndone(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	leasedtest.UndoneRequest(t, l.Driver, l.Other, l.requested(t))
}

// While the history is compacted, watches break off, and resume where there is no history any more.
func TestCompaction(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	compactor(t, dial(t, addr))
	leasedtest.BrokenConnections(t, engine, []string{addr})
}

func TestServerForgets(t *testing.T) {
	t.Parallel()
	leasedtest.RestartedEmpty(t, engine, servers.Etcd(t))
}

// leader is the place of the server that leads.
func leader(t *testing.T, cluster []*servers.Server) int {
	t.Helper()
	client := dial(t, addrs(cluster)...)
	leads := slices.IndexFunc(cluster, func(s *servers.Server) bool {
		status, err := client.Status(limit(t), s.Addr)
		return err == nil && status.Leader == status.Header.MemberId
	})
	if leads < 0 {
		t.Fatal("no member says that it leads") // nor does one that wants a password
	}
	return leads
}

// revokeAll revokes all leases, as an operator who cleans up might.
func revokeAll(t *testing.T, client *clientv3.Client) {
	t.Helper()
	leases, err := client.Leases(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Leases {
		if _, err := client.Revoke(limit(t), l.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRevokedLease(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	holder, waiter := open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, holder, claim("job", long))
	waiting := enqueue(t, waiter, claim("job", long))
	ended := make(chan error, 1)
	go func() { ended <- granted(limit(t), waiter, waiting) }()
	heard := leasedtest.Heard(t, holder, held)
	revokeAll(t, dial(t, addr))
	if err := <-ended; err != nil && !errors.Is(err, driver.ErrGone) { // it is granted if the holder's lease goes first
		t.Errorf("waiting ends with %v, want ErrGone", err)
	}
	<-heard
	for d, c := range map[*etcdlock.Driver]driver.Claim{holder: held, waiter: waiting} {
		claimed.IsGone(t, d, c)
		release(t, d, acquire(t, d, claim("job", long))) // on a new lease
	}
}

// A lossy client is one whose connection may break before the server applied what was asked.
type lossy struct{ leasedtest.Lossy }

func newLossy(t *testing.T) lossy { return lossy{leasedtest.NewLossy(t, engine)} }

// applies makes a call about the lock job whose answer is swallowed, and reports whether the server applied it, as
// applied tells.
func (l lossy) applies(t *testing.T, call func() error, applied func([]driver.Entry) bool) bool {
	t.Helper()
	l.Loses(t, "/holdfast/job/", call)
	for range 50 {
		if queue, err := l.Other.Queue(limit(t), "job"); err == nil && applied(queue) {
			return true
		}
		driver.Sleep(t.Context(), 5*time.Millisecond)
	}
	return false
}

// requested returns a claim that is queued, though the answer to its request was lost.
func (l lossy) requested(t *testing.T) driver.Claim {
	t.Helper()
	for {
		c := claim("job", long)
		call := func() error { _, err := l.Request(limit(t), c); return err }
		if l.applies(t, call, func(queue []driver.Entry) bool { return len(queue) == 1 }) {
			return c
		}
		l.Release(limit(t), c)
	}
}

func TestLostAnswerOfARequest(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	leasedtest.RepeatedRequest(t, l.Driver, l.Other, l.requested(t))
}

func TestLostAnswerOfARelease(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for applied := false; !applied; {
		c := acquire(t, l.Driver, claim("job", long))
		isEmpty := func(queue []driver.Entry) bool { return len(queue) == 0 }
		applied = l.applies(t, func() error { return l.Release(limit(t), c) }, isEmpty)
		next := claim("job", long)
		if applied {
			next = acquire(t, l.Other, next)
		}
		release(t, l.Driver, c)
		if applied {
			acquire(t, l.Other, next) // the repeated release did not touch it
		}
	}
}

// compactor compacts the history again and again until the test ends.
func compactor(t *testing.T, client *clientv3.Client) {
	leasedtest.Beside(t, func(ctx context.Context) {
		for ctx.Err() == nil {
			put, err := client.Put(ctx, "unrelated", "x")
			if err == nil {
				client.Compact(ctx, put.Header.Revision)
			}
		}
	})
}

// A watch that resumes where the history was compacted meanwhile is broken for good.
func TestCompactedWatch(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	p, client := proxy.New(t, addr), dial(t, addr)
	holder, waiter := open(t, nil, addr), open(t, nil, p.Addr)
	held := acquire(t, holder, claim("job", long))
	waiting := enqueue(t, waiter, claim("job", long))
	ctx, cancel := context.WithTimeout(limit(t), long*3/4) // no renewal helps
	defer cancel()
	got := make(chan error, 1)
	go func() { got <- granted(ctx, waiter, waiting) }() // ends when it is granted
	until(t, "the waiter watches itself and the holder", func() bool { return watchers(t, addr) == 2 })

	p.BlackHole()
	var last int64
	for range 5 {
		put, err := client.Put(ctx, "unrelated", "x")
		if err != nil {
			t.Fatal(err)
		}
		last = put.Header.Revision
	}
	if _, err := client.Compact(ctx, last); err != nil {
		t.Fatal(err)
	}
	p.Heal()
	release(t, holder, held)
	if err := <-got; err != nil {
		t.Errorf("waiting behind a compacted watch: %v", err)
	}
}

func TestNestedNames(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, nil, addr)
	acquire(t, d, claim("a/b", long))
	acquire(t, d, claim("a", long))
	acquire(t, d, claim("a/b/c", long))
}

// A claim that was renewed lives for its TTL from then on, even if its client dies the next moment.
func TestRenewalReachesTheServer(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	pace.Run(t, "in time", func(t *pace.T) {
		d, client := open(t, nil, addr), dial(t, addr)
		ttl, attempt := t.TTL(4*time.Second), rand.Text()
		first, later := acquire(t, d, claim("first"+attempt, ttl)), claim("later"+attempt, ttl)
		driver.Sleep(t.Context(), ttl*3/8) // the lease has aged, and is not due to be kept alive
		acquire(t, d, later)
		if left := leaseLeft(t, client, "/holdfast/"+later.Name+"/"); left < ttl {
			t.Errorf("after a request for %v the lease of the claim lives for %v", ttl, left)
		}
		driver.Sleep(t.Context(), ttl*3/8)
		acquire(t, d, first)
		if left := leaseLeft(t, client, "/holdfast/"+first.Name+"/"); left < ttl {
			t.Errorf("after a renewal for %v the lease of the claim lives for %v", ttl, left)
		}
	})
}

// leaseLeft is how long the lease of the key that begins so lives, in whole seconds.
func leaseLeft(t testing.TB, client *clientv3.Client, prefix string) time.Duration {
	t.Helper()
	defer pace.Time(t)()
	answer, err := client.Get(limit(t), prefix, clientv3.WithPrefix())
	if err != nil || len(answer.Kvs) != 1 {
		t.Fatalf("%s: %v, %v; want one key", prefix, answer, err)
	}
	left, err := client.TimeToLive(limit(t), clientv3.LeaseID(answer.Kvs[0].Lease))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(left.TTL) * time.Second
}

// While a majority serves, no holder loses its lock, and a lock that is free can be had, whatever befalls one
// member: also in the worst of elections, and with another attempt after it.
func TestOneMemberFails(t *testing.T) {
	effort.Raced(t)
	apart.Run(t, apart.Ensemble{
		Start:    func(t *testing.T) ([]*servers.Server, *servers.Network) { return servers.EtcdApart(t, 3) },
		Leader:   leader,
		Open:     func(t testing.TB, addrs ...string) driver.Driver { return engine.Open(t, addrs...) },
		Election: 5 * time.Second,
		Always: []string{
			"the leader is cut off", "a follower is cut off", "the leader is stopped",
			"the disk of the leader stalls",
		},
	})
}
