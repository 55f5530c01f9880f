package zklock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

func TestLeaderCrash(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	ctx := limit(t)
	const waiters = 4
	client := func() *holdfast.Client { return holdfast.New(open(t, nil, addrs(ensemble)...)) }
	ttl := holdfast.WithTTL(10 * time.Second)
	held, err := client().Mutex("job", ttl).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got sync.WaitGroup
	var inside cell
	d := open(t, nil, addrs(ensemble)...)
	for range waiters {
		c := client()
		got.Go(func() {
			l, err := c.Mutex("job", ttl).Lock(ctx)
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

	leader := slices.IndexFunc(ensemble, func(s *servers.Server) bool { return s.ZooKeeperLeads(t) })
	ensemble[leader].Kill(t)
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

// The holder hears nothing more from the ensemble, and nobody hears that it is gone.
func TestHolderKnowsFirst(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	for round := range times(1, 5) {
		each(4, func(i int) { holderKnowsFirst(t, ensemble, fmt.Sprint("job ", round, " ", i)) })
	}
}

func holderKnowsFirst(t *testing.T, ensemble []*servers.Server, name string) {
	ctx := limit(t)
	const ttl = 3 * time.Second
	holes, through := proxies(t, ensemble)
	holder, other := open(t, nil, through...), open(t, nil, addrs(ensemble)...)
	holding, next := warm(t, holder, ttl), warm(t, other, ttl)
	held, err := lockAtLast(ctx, holding.Mutex(name, holdfast.WithTTL(ttl)))
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan time.Time, 1)
	go func() { // ends with the lease
		<-held.Done()
		lost <- time.Now()
	}()
	granted := make(chan time.Time, 1)
	go func() { // ends when it is granted
		if _, err := lockAtLast(ctx, next.Mutex(name, holdfast.WithTTL(ttl))); err != nil {
			t.Errorf("the next: %v", err)
		}
		if held.Err() == nil {
			t.Error("the next was granted, and the holder trusts its lease")
		}
		granted <- time.Now()
	}()
	until(t, "the next waits", func() bool { queue, err := other.Queue(ctx, name); return err == nil && len(queue) == 2 })
	driver.Sleep(ctx, ttl/2) // the holder renews
	for _, p := range holes {
		p.BlackHole()
	}
	cut := time.Now()
	lostAt, grantedAt := <-lost, <-granted
	t.Logf("cut off; lost after %v, the next was granted after %v", lostAt.Sub(cut), grantedAt.Sub(cut))
	if !lostAt.Before(grantedAt) {
		t.Errorf("the holder knew %v after the next was granted", lostAt.Sub(grantedAt))
	}
	if !errors.Is(held.Err(), holdfast.ErrLost) {
		t.Errorf("the lease says %v", held.Err())
	}
	if late := grantedAt.Sub(cut); late > 3*ttl+5*time.Second {
		t.Errorf("the next was granted %v after the cut", late)
	}
	for _, p := range holes {
		p.Heal()
	}
}

// lockAtLast acquires a lock, again where a busy machine did not answer within the TTL.
func lockAtLast(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	for {
		l, err := m.Lock(ctx)
		if !errors.Is(err, holdfast.ErrUnknown) || ctx.Err() != nil {
			return l, err
		}
	}
}

// warm returns a client whose session is there: starting one takes longer than such a TTL while the machine is busy.
func warm(t *testing.T, d driver.Driver, ttl time.Duration) *holdfast.Client {
	t.Helper()
	c := claim("warm up", ttl)
	c.Queue = false
	until(t, "the session is there", func() bool { _, err := d.Request(limit(t), c); return err == nil })
	d.Release(limit(t), c) // or it was not granted
	return holdfast.New(d)
}

// proxies stand before each of the servers.
func proxies(t *testing.T, ensemble []*servers.Server) (list []*proxy.Proxy, addrs []string) {
	t.Helper()
	for _, s := range ensemble {
		p := proxy.New(t, s.Addr)
		list, addrs = append(list, p), append(addrs, p.Addr)
	}
	return list, addrs
}

// A server that has lost its leader still answers reads and pings for a while, and its clients must not believe it.
func TestServerWithoutLeader(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3, "syncLimit=900") // it believes for 90 s that the leader is there
	ctx := limit(t)
	leader := slices.IndexFunc(ensemble, func(s *servers.Server) bool { return s.ZooKeeperLeads(t) })
	follower := ensemble[(leader+1)%3]
	held, err := holdfast.New(open(t, nil, follower.Addr)).Mutex("job", holdfast.WithTTL(10*time.Second)).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ensemble {
		if s != follower {
			s.Pause(t)
		}
	}
	select {
	case <-held.Done():
	case <-ctx.Done():
		t.Error("the holder believes a server that has lost its leader")
	}
	if says := follower.ZooKeeperWord(t, "srvr"); !strings.Contains(says, "Mode: follower") {
		t.Logf("the server does not serve any more, so this run shows nothing:\n%s", says)
	}
	for _, s := range ensemble {
		if s != follower {
			s.Resume(t)
		}
	}
}

// An operator ends the sessions of a holder and of a waiter.
func TestClosedSession(t *testing.T) {
	t.Parallel()
	const ttl = long // what has ended is remembered for so long
	server := servers.ZooKeeper(t)
	var taps [2]tap
	holder, waiter := open(t, taps[0].options(), server.Addr), open(t, taps[1].options(), server.Addr)
	held := acquire(t, holder, claim("job", ttl))
	waiting := enqueue(t, waiter, claim("job", ttl))
	claims := map[*zklock.Driver]driver.Claim{holder: held, waiter: waiting}
	ends := make(chan error, 2)
	for d, c := range claims {
		go func() { // ends when the claim does
			ctx := limit(t)
			_, err := d.Wait(ctx, c)
			for !errors.Is(err, driver.ErrGone) && ctx.Err() == nil { // the connection may break before the reason is known
				_, err = d.Wait(ctx, c)
			}
			ends <- err
		}()
	}
	taps[1].closeSessions(t, server)
	taps[0].closeSessions(t, server)
	for range 2 {
		if err := <-ends; !errors.Is(err, driver.ErrGone) {
			t.Errorf("Wait returns %v, want ErrGone", err)
		}
	}
	for d, c := range claims {
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
		release(t, d, acquire(t, d, claim("job", long))) // in a new session
	}
}

// A lossy client speaks through a proxy that swallows answers; the other one sees what was applied.
type lossy struct {
	*zklock.Driver
	proxy *proxy.Proxy
	other *zklock.Driver
}

func newLossy(t *testing.T) lossy {
	t.Helper()
	addr := servers.ZooKeeper(t).Addr
	p := proxy.New(t, addr)
	l := lossy{open(t, nil, p.Addr), p, open(t, nil, addr)}
	for _, d := range []driver.Driver{l, l.other} {
		release(t, d, acquire(t, d, claim("job", long)))
	}
	return l
}

// loses makes a call whose answer is swallowed: the first that names c, since it asks for the change itself.
func (l lossy) loses(t *testing.T, c driver.Claim, call func() error) {
	t.Helper()
	l.proxy.DropNextReplyAfter([]byte(c.ID))
	if err := call(); err == nil {
		t.Fatal("the answer arrived")
	}
}

// requested returns a claim that is queued, though the answer to its request was lost.
func (l lossy) requested(t *testing.T) driver.Claim {
	t.Helper()
	c := claim("job", long)
	l.loses(t, c, func() error { _, err := l.Request(limit(t), c); return err })
	until(t, "the request is applied", func() bool {
		queue, err := l.other.Queue(limit(t), "job")
		return err == nil && len(queue) == 1
	})
	return c
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

// Nobody undoes the request, and the client lives on: the claim ends all the same.
func TestLostAnswerOfARequestThatIsForgotten(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	c := claim("job", short)
	l.loses(t, c, func() error { _, err := l.Request(limit(t), c); return err })
	acquire(t, l, claim("another", long))
	take(t, l.other, claim("job", long))
}

func TestLostAnswerOfARelease(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	c := acquire(t, l, claim("job", long))
	l.loses(t, c, func() error { return l.Release(limit(t), c) })
	next := take(t, l.other, claim("job", long))
	release(t, l, c)
	acquire(t, l.other, next) // the repeated release did not touch it
}

// What changes while the connection is away is told when it is back.
func TestChangeWhileAway(t *testing.T) {
	t.Parallel()
	server := servers.ZooKeeper(t)
	p := proxy.New(t, server.Addr)
	d, other := open(t, nil, p.Addr), open(t, nil, server.Addr)
	acquire(t, other, claim("job", longest))
	watches := func() string {
		_, count, _ := strings.Cut(server.ZooKeeperWord(t, "mntr"), "\nzk_watch_count\t")
		count, _, _ = strings.Cut(count, "\n")
		return count
	}
	before := watches()
	watched := make(chan error, 1)
	ctx, cancel := context.WithTimeout(limit(t), long)
	defer cancel()
	go func() { watched <- d.Watch(ctx, "job") }() // ends with the change
	until(t, "it watches", func() bool { return watches() != before })
	p.BlackHole()
	enqueue(t, other, claim("job", longest))
	p.Reset()
	p.Heal()
	if err := <-watched; err != nil && ctx.Err() != nil { // an error of the connection ends it, too: whoever watches looks then
		t.Errorf("Watch: %v", err)
	}
}

// While connections break off again and again, nobody hangs, and never two are inside.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	const clients, rounds = 3, 20
	var inside cell
	ctx, stop := context.WithCancel(limit(t))
	defer stop()
	var breaker sync.WaitGroup
	var all []*proxy.Proxy
	var through [clients][]string
	for i := range clients {
		list, addrs := proxies(t, ensemble)
		all, through[i] = append(all, list...), addrs
	}
	breaker.Go(func() {
		for i := 0; driver.Sleep(ctx, 50*time.Millisecond) == nil; i++ {
			all[i%len(all)].Reset()
		}
	})
	each(clients, func(i int) {
		c := holdfast.New(open(t, nil, through[i]...))
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
			l.Release(ctx) // it may be lost
		}
	})
	stop()
	breaker.Wait()
	inside.judge(t, clients*rounds/2, "a client")
}

func TestWaiterDiesInTheMiddle(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t).Addr
	hole := proxy.New(t, addr)
	holder, first, second, last := open(t, nil, addr), open(t, nil, addr), open(t, nil, hole.Addr), open(t, nil, addr)
	held := acquire(t, holder, claim("job", long))
	waitFirst := enqueue(t, first, claim("job", long))
	dead := enqueue(t, second, claim("job", short))
	waitLast := enqueue(t, last, claim("job", long))

	got := make(chan error, 1)
	go func() { got <- granted(limit(t), last, waitLast) }() // ends when it is granted
	hole.BlackHole()                                         // as if the machine had lost its power
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
	addr := servers.ZooKeeper(t).Addr
	for _, layout := range []zklock.Layout{zklock.Native, zklock.Curator, zklock.Kazoo} {
		d := open(t, &zklock.Options{Layout: layout, Prefix: string(layout)}, addr)
		acquire(t, d, claim("a/b", long))
		acquire(t, d, claim("a", long))
		acquire(t, d, claim("a/b/c", long))
	}
}

// A claim ends when it is not renewed, although its client lives and renews others in the same session.
func TestUnrenewedBesideRenewed(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t).Addr
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
