package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// leader is the place of the server that leads.
func leader(t *testing.T, cluster []*servers.Server) int {
	t.Helper()
	client := dial(t, addrs(cluster)...)
	return slices.IndexFunc(cluster, func(s *servers.Server) bool {
		status, err := client.Status(limit(t), s.Addr)
		return err == nil && status.Leader == status.Header.MemberId
	})
}

func TestLeaderCrash(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	ctx := limit(t)
	const waiters = 4
	client := func() *holdfast.Client { return holdfast.New(open(t, nil, addrs(cluster)...)) }
	held, err := client().Mutex("job", holdfast.WithTTL(5*time.Second)).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got sync.WaitGroup
	var inside room
	d := open(t, nil, addrs(cluster)...)
	for range waiters {
		c := client()
		got.Go(func() {
			l, err := c.Mutex("job", holdfast.WithTTL(5*time.Second)).Lock(ctx)
			if err != nil {
				t.Errorf("waiting while the leader crashed: %v", err)
				return
			}
			inside.visit("a waiter")
			if err := l.Release(ctx); err != nil {
				t.Errorf("Release: %v", err)
			}
		})
	}
	until(t, "all wait", func() bool { queue, err := d.Queue(ctx, "job"); return err == nil && len(queue) == waiters+1 })

	cluster[leader(t, cluster)].Kill(t)
	until(t, "the others answer", func() bool { err := held.Check(ctx); return err == nil || errors.Is(err, holdfast.ErrLost) })
	if err := held.Err(); err != nil {
		t.Errorf("the lock was lost with the leader: %v", err)
	}
	if err := held.Release(ctx); err != nil {
		t.Errorf("Release: %v", err)
	}
	got.Wait()
	inside.judge(t, waiters, "a waiter")
}

// The holder hears nothing more from the cluster, and nobody hears that it is gone.
func TestHolderKnowsFirst(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	for round := range times(1, 5) {
		each(4, func(i int) { holderKnowsFirst(t, cluster, fmt.Sprint("job ", round, " ", i)) })
	}
}

func holderKnowsFirst(t *testing.T, cluster []*servers.Server, name string) {
	ctx := limit(t)
	var holes []*proxy.Proxy
	var through []string
	for _, s := range cluster {
		p := proxy.New(t, s.Addr)
		holes, through = append(holes, p), append(through, p.Addr)
	}
	ttl := holdfast.WithTTL(short)
	held, err := lockAtLast(ctx, holdfast.New(open(t, nil, through...)).Mutex(name, ttl))
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan time.Time, 1)
	go func() { // ends with the lease
		<-held.Done()
		lost <- time.Now()
	}()
	next := make(chan time.Time, 1)
	other := holdfast.New(open(t, nil, addrs(cluster)...))
	queued := make(chan struct{})
	go func() { // ends when it is granted
		close(queued)
		if _, err := lockAtLast(ctx, other.Mutex(name, ttl)); err != nil {
			t.Errorf("the next: %v", err)
		}
		if held.Err() == nil {
			t.Error("the next was granted, and the holder trusts its lease")
		}
		next <- time.Now()
	}()
	<-queued
	driver.Sleep(ctx, short/2) // the holder renews
	for _, p := range holes {
		p.BlackHole()
	}
	cut := time.Now()
	lostAt, grantedAt := <-lost, <-next
	t.Logf("cut off; lost after %v, the next was granted after %v", lostAt.Sub(cut), grantedAt.Sub(cut))
	if !lostAt.Before(grantedAt) {
		t.Errorf("the holder knew %v after the next was granted", lostAt.Sub(grantedAt))
	}
	if !errors.Is(held.Err(), holdfast.ErrLost) {
		t.Errorf("the lease says %v", held.Err())
	}
	if late := grantedAt.Sub(cut); late > short+leaseSlack+3*time.Second {
		t.Errorf("the next was granted %v after the cut", late)
	}
	for _, p := range holes {
		p.Heal()
	}
}

// leaseSlack is what a lease may live longer than its claims.
const leaseSlack = 2 * time.Second

// lockAtLast acquires a lock, again where a busy machine did not answer within the TTL.
func lockAtLast(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	for {
		l, err := m.Lock(ctx)
		if !errors.Is(err, holdfast.ErrUnknown) || ctx.Err() != nil {
			return l, err
		}
	}
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
	addr := servers.Etcd(t).Addr
	holder, waiter := open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, holder, claim("job", long))
	waiting := enqueue(t, waiter, claim("job", long))
	ends := make(chan error, 2)
	for d, c := range map[*etcdlock.Driver]driver.Claim{holder: held, waiter: waiting} {
		go func() { // ends when the claim does
			for {
				if st, err := d.Wait(limit(t), c); err != nil {
					ends <- err
					return
				} else if st == (driver.Status{}) {
					ends <- errors.New("asked to ask again")
					return
				}
			}
		}()
	}
	revokeAll(t, dial(t, addr))
	for range 2 {
		if err := <-ends; !errors.Is(err, driver.ErrGone) {
			t.Errorf("Wait returns %v, want ErrGone", err)
		}
	}
	for d, c := range map[*etcdlock.Driver]driver.Claim{holder: held, waiter: waiting} {
		if _, err := d.Request(limit(t), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a renewal answers %v, want ErrGone", err)
		}
		if err := d.Release(limit(t), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a release answers %v, want ErrGone", err)
		}
		c.Token = 0
		if _, err := d.Request(limit(t), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a late request answers %v, want ErrGone", err)
		}
		again := acquire(t, d, claim("job", long)) // on a new lease
		release(t, d, again)
	}
}

// A lossy client speaks through a proxy that swallows answers; the other one sees what was applied.
type lossy struct {
	*etcdlock.Driver
	proxy *proxy.Proxy
	other *etcdlock.Driver
}

func newLossy(t *testing.T) lossy {
	t.Helper()
	addr := servers.Etcd(t).Addr
	p := proxy.New(t, addr)
	l := lossy{open(t, nil, p.Addr), p, open(t, nil, addr)}
	release(t, l, acquire(t, l, claim("warm up", long)))
	return l
}

// loses makes a call about c whose answer is swallowed. The connection may break before the server applied it, so that
// is tried until it did, which applied tells.
func (l lossy) loses(t *testing.T, c driver.Claim, call func() error, applied func([]driver.Entry) bool) bool {
	t.Helper()
	l.proxy.DropNextReplyAfter([]byte(c.ID))
	if err := call(); err == nil {
		t.Fatal("the answer arrived")
	}
	for range 50 {
		if queue, err := l.other.Queue(limit(t), c.Name); err == nil && applied(queue) {
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
		if l.loses(t, c, call, func(queue []driver.Entry) bool { return len(queue) == 1 }) {
			return c
		}
		l.Release(limit(t), c)
	}
}

func TestLostAnswerOfARequest(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	c := l.requested(t)
	enqueue(t, l.other, claim("job", long))
	c = acquire(t, l, c)
	queue, err := l.other.Queue(limit(t), "job")
	if err != nil || len(queue) != 2 || queue[0].ID != c.ID || queue[0].Token != c.Token {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
}

func TestLostAnswerOfARequestThatIsUndone(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	c := l.requested(t)
	release(t, l, c)
	acquire(t, l.other, claim("job", long))
	for _, late := range []driver.Driver{l, l.other} {
		if _, err := late.Request(limit(t), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a late duplicate of the request answers %v, want ErrGone", err)
		}
	}
}

func TestLostAnswerOfARelease(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for applied := false; !applied; {
		c := acquire(t, l, claim("job", long))
		applied = l.loses(t, c, func() error { return l.Release(limit(t), c) }, func(queue []driver.Entry) bool { return len(queue) == 0 })
		next := claim("job", long)
		if applied {
			next = acquire(t, l.other, next)
		}
		release(t, l, c)
		if applied {
			acquire(t, l.other, next) // the repeated release did not touch it
		}
	}
}

// compactor compacts the history again and again until the test ends.
func compactor(t *testing.T, client *clientv3.Client) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			put, err := client.Put(ctx, "unrelated", "x")
			if err == nil {
				client.Compact(ctx, put.Header.Revision)
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// While the history is compacted, watches break off, and resume where there is no history any more.
func TestCompaction(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	compactor(t, dial(t, addr))
	const clients, rounds = 3, 30
	var proxies []*proxy.Proxy
	for range clients {
		proxies = append(proxies, proxy.New(t, addr))
	}
	var inside room
	ctx, stop := context.WithCancel(limit(t))
	defer stop()
	var breaker sync.WaitGroup
	breaker.Go(func() {
		for i := 0; driver.Sleep(ctx, 50*time.Millisecond) == nil; i++ {
			proxies[i%clients].Reset()
		}
	})
	each(clients, func(i int) {
		c := holdfast.New(open(t, nil, proxies[i].Addr))
		for range rounds {
			l, err := c.Mutex("job", holdfast.WithTTL(5*time.Second)).Lock(ctx)
			if err != nil {
				if ctx.Err() != nil {
					t.Errorf("Lock hangs: %v", err)
					return
				}
				continue
			}
			inside.visit("a client")
			l.Release(ctx)
		}
	})
	stop()
	breaker.Wait()
	inside.judge(t, clients*rounds/2, "a client")
}

// A watch that resumes where the history was compacted meanwhile is broken for good.
func TestCompactedWatch(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	p, client := proxy.New(t, addr), dial(t, addr)
	holder, waiter := open(t, nil, addr), open(t, nil, p.Addr)
	held := acquire(t, holder, claim("job", long))
	waiting := enqueue(t, waiter, claim("job", long))
	ctx, cancel := context.WithTimeout(limit(t), long/2) // no renewal helps
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

func TestWaiterDiesInTheMiddle(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	holder, first, second, last := open(t, nil, addr), open(t, nil, addr), open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, holder, claim("job", long))
	waitFirst := enqueue(t, first, claim("job", long))
	dead := enqueue(t, second, claim("job", short))
	waitLast := enqueue(t, last, claim("job", long))

	got := make(chan error, 1)
	go func() { got <- granted(limit(t), last, waitLast) }() // ends when it is granted
	second.Close()                                           // as if the process had crashed: nobody renews
	until(t, "the dead waiter falls out", func() bool {
		queue, err := holder.Queue(limit(t), "job")
		return err == nil && !slices.ContainsFunc(queue, func(e driver.Entry) bool { return e.ID == dead.ID })
	})
	release(t, holder, held)
	mustBeGranted(t, first, waitFirst)
	select {
	case err := <-got:
		t.Errorf("the last waiter overtook the first, error %v", err)
	case <-time.After(50 * time.Millisecond): // it would know by now
	}
	release(t, first, waitFirst)
	if err := <-got; err != nil {
		t.Errorf("waiting behind a dead waiter: %v", err)
	}
}

func TestNestedNames(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	d := open(t, nil, addr)
	acquire(t, d, claim("a/b", long))
	acquire(t, d, claim("a", long))
	acquire(t, d, claim("a/b/c", long))
}

// A claim ends when it is not renewed, although its client lives and renews others on the same lease.
func TestUnrenewedBesideRenewed(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	pace.Run(t, "beside", func(t *pace.T) { unrenewedBesideRenewed(t, addr) })
}

func unrenewedBesideRenewed(t *pace.T, addr string) {
	d, other := open(t, nil, addr), open(t, nil, addr)
	ctx, ttl := limit(t), t.TTL(short)
	kept, left := acquire(t, d, claim("kept", ttl)), acquire(t, d, claim("left", ttl))
	waiting := enqueue(t, other, claim("left", long))
	got := make(chan error, 1)
	go func() { got <- granted(ctx, other, waiting) }() // ends when it is granted
	for ended := false; !ended; driver.Sleep(ctx, ttl/4) {
		request(t, d, kept)
		select {
		case err := <-got:
			if ended = true; err != nil {
				t.Errorf("waiting for a claim that was not renewed: %v", err)
			}
		default:
		}
	}
	if err := d.Release(ctx, left); !errors.Is(err, driver.ErrGone) {
		t.Errorf("releasing what expired: %v, want ErrGone", err)
	}
	release(t, d, kept)
	release(t, other, waiting)
}

// A claim that was renewed lives for its TTL from then on, even if its client dies the next moment.
func TestRenewalReachesTheServer(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	const ttl = 4 * time.Second
	first, later := acquire(t, d, claim("first", ttl)), claim("later", ttl)
	driver.Sleep(t.Context(), ttl*3/8) // the lease has aged, and is not due to be kept alive
	acquire(t, d, later)
	if left := leaseLeft(t, client, "/holdfast/later/"); left < ttl {
		t.Errorf("after a request for %v the lease of the claim lives for %v", ttl, left)
	}
	driver.Sleep(t.Context(), ttl*3/8)
	acquire(t, d, first)
	if left := leaseLeft(t, client, "/holdfast/first/"); left < ttl {
		t.Errorf("after a renewal for %v the lease of the claim lives for %v", ttl, left)
	}
}

// leaseLeft is how long the lease of the key that begins so lives, in whole seconds.
func leaseLeft(t *testing.T, client *clientv3.Client, prefix string) time.Duration {
	t.Helper()
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
