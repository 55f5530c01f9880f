package leasedtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// leaderCrash kills the server that leads. No lock is lost with it, and all who wait get theirs.
func leaderCrash(t *pace.T, e Engine) {
	cluster := e.Cluster(t)
	ctx, ttl := Limit(t), holdfast.WithTTL(t.TTL(e.Outlast))
	const waiters = 4
	client := func() *holdfast.Client { return holdfast.New(e.Open(t, Addrs(cluster)...)) }
	held, err := client().Mutex("job", ttl).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got sync.WaitGroup
	var inside room
	for range waiters {
		m := client().Mutex("job", ttl)
		got.Go(func() { visitOnce(ctx, t, m, &inside) })
	}
	Queued(t, e.Open(t, Addrs(cluster)...), "job", 1+waiters)

	cluster[e.Leader(t.T, cluster)].Kill(t)
	Until(t, "the others answer", func() bool {
		err := held.Check(ctx)
		return err == nil || errors.Is(err, holdfast.ErrLost)
	})
	if err := held.Err(); err != nil {
		t.Errorf("the lock was lost with the leader: %v", err)
	}
	if err := held.Release(ctx); err != nil {
		t.Errorf("Release: %v", err)
	}
	got.Wait()
	inside.alone(t.T) // which no stall excuses
	inside.visited(t, waiters)
}

func visitOnce(ctx context.Context, t testing.TB, m *holdfast.Mutex, inside *room) {
	l, err := m.Lock(ctx)
	if err != nil {
		t.Errorf("waiting while the leader crashed: %v", err)
		return
	}
	inside.visit()
	if err := l.Release(ctx); err != nil {
		t.Errorf("Release: %v", err)
	}
}

// holdersKnowFirst cuts holders off. They hear nothing more from the servers, and nobody hears that they are gone.
func holdersKnowFirst(t *testing.T, e Engine) {
	addrs := Addrs(e.Cluster(t))
	for round := range effort.Pick(1, 5) {
		Each(4, func(i int) {
			name := fmt.Sprint("job ", round, " ", i)
			pace.Run(t, name, func(t *pace.T) { holderKnowsFirst(t, e, addrs, name+rand.Text()) })
		})
	}
}

func holderKnowsFirst(t *pace.T, e Engine, addrs []string, name string) {
	e.Cut, e.Late = t.TTL(e.Cut), t.Scaled(e.Late)
	ctx, ttl := Limit(t), holdfast.WithTTL(e.Cut)
	holes, through := proxies(t, addrs)
	other := e.Open(t, addrs...)
	holding, next := warm(t, e.Open(t, through...), e.Cut), warm(t, other, e.Cut)
	held, err := lockAtLast(ctx, holding.Mutex(name, ttl))
	if err != nil {
		t.Fatal(err)
	}
	lost, granted := make(chan time.Time, 1), make(chan time.Time, 1)
	go func() { // ends with the lease
		<-held.Done()
		lost <- time.Now()
	}()
	go func() { // ends when it is granted
		if _, err := lockAtLast(ctx, next.Mutex(name, ttl)); err != nil {
			t.Errorf("the next: %v", err)
		}
		if held.Err() == nil {
			t.Error("the next was granted, and the holder trusts its lease")
		}
		granted <- time.Now()
	}()
	Queued(t, other, name, 2)
	driver.Sleep(ctx, e.Cut/2) // the holder renews
	for _, p := range holes {
		p.BlackHole()
	}
	judgeCut(t, e, held, time.Now(), <-lost, <-granted)
	for _, p := range holes {
		p.Heal()
	}
}

func judgeCut(t testing.TB, e Engine, held *holdfast.Lease, cut, lost, granted time.Time) {
	t.Logf("cut off; lost after %v, the next was granted after %v", lost.Sub(cut), granted.Sub(cut))
	if !lost.Before(granted) {
		t.Errorf("the holder knew %v after the next was granted", lost.Sub(granted))
	}
	if !errors.Is(held.Err(), holdfast.ErrLost) {
		t.Errorf("the lease says %v", held.Err())
	}
	if late := granted.Sub(cut); late > e.Late {
		t.Errorf("the next was granted %v after the cut", late)
	}
}

// BrokenConnections breaks the connections to these servers off again and again. Nobody hangs, and never two are
// inside.
func BrokenConnections(t *testing.T, e Engine, addrs []string) {
	pace.Run(t, "broken", func(t *pace.T) { brokenConnections(t, e, addrs) })
}

// brokenRounds is how often each client takes the lock.
const brokenRounds = 20

func brokenConnections(t *pace.T, e Engine, addrs []string) {
	const clients = 3
	var all []*proxy.Proxy
	var through [clients][]string
	for i := range clients {
		var list []*proxy.Proxy
		list, through[i] = proxies(t, addrs)
		all = append(all, list...)
	}
	ctx, stop := context.WithCancel(Limit(t))
	defer stop()
	pause := t.Scaled(50 * time.Millisecond)
	t.Margin(pause)
	var breaker sync.WaitGroup
	breaker.Go(func() {
		for i := 0; driver.Sleep(ctx, pause) == nil; i++ {
			all[i%len(all)].Reset()
		}
	})
	var inside room
	Each(clients, func(i int) { visitOften(ctx, t, e.Open(t, through[i]...), &inside) })
	stop()
	breaker.Wait()
	inside.alone(t.T) // which no stall excuses
	inside.visited(t, clients*brokenRounds/2)
}

func visitOften(ctx context.Context, t *pace.T, d claimed.Driver, inside *room) {
	m := holdfast.New(d).Mutex("job", holdfast.WithTTL(t.TTL(5*time.Second)))
	for range brokenRounds {
		l, err := m.Lock(ctx)
		switch {
		case err == nil:
			inside.visit()
			l.Release(ctx) // it may be lost
		case ctx.Err() != nil:
			t.Errorf("Lock hangs: %v", err)
			return
		}
	}
}

// waiterDiesInTheMiddle has one of three waiters lose its network: it falls out of the queue, and nobody overtakes.
func waiterDiesInTheMiddle(t *testing.T, e Engine) {
	addr := e.Server(t)
	hole := proxy.New(t, addr)
	holder, first, second, last := e.Open(t, addr), e.Open(t, addr), e.Open(t, hole.Addr), e.Open(t, addr)
	held := claimed.Acquire(t, holder, claimed.Mutex("job", Long))
	waitFirst := claimed.Enqueue(t, first, claimed.Mutex("job", Long))
	dead := claimed.Enqueue(t, second, claimed.Mutex("job", Short))
	waitLast := claimed.Enqueue(t, last, claimed.Mutex("job", Long))

	got := make(chan error, 1)
	go func() { got <- Granted(Limit(t), last, waitLast) }() // ends when it is granted
	hole.BlackHole()                                         // as if the machine had lost its power
	Until(t, "the dead waiter falls out", func() bool {
		queue, err := holder.Queue(Limit(t), "job")
		return err == nil && !slices.ContainsFunc(queue, func(e driver.Entry) bool { return e.ID == dead.ID })
	})
	claimed.Release(t, holder, held)
	MustBeGranted(t, first, waitFirst)
	select {
	case err := <-got:
		t.Errorf("the last waiter overtook the first, error %v", err)
	case <-time.After(50 * time.Millisecond): // it would know by now
	}
	claimed.Release(t, first, waitFirst)
	if err := <-got; err != nil {
		t.Errorf("waiting behind a dead waiter: %v", err)
	}
}

// unrenewedBesideRenewed does not renew a claim, although its client lives and renews others on the same lease: it
// ends.
func unrenewedBesideRenewed(t *pace.T, e Engine) {
	addr := e.Server(t)
	d, other := e.Open(t, addr), e.Open(t, addr)
	ctx, ttl := Limit(t), t.TTL(Short)
	kept := claimed.Acquire(t, d, claimed.Mutex("kept", ttl))
	left := claimed.Acquire(t, d, claimed.Mutex("left", ttl))
	waiting := claimed.Enqueue(t, other, claimed.Mutex("left", Long))
	got := make(chan error, 1)
	go func() { got <- Granted(ctx, other, waiting) }() // ends when it is granted
	for ended := false; !ended; driver.Sleep(ctx, ttl/4) {
		claimed.Request(t, d, kept)
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
	claimed.Release(t, d, kept)
	claimed.Release(t, other, waiting)
}

// RepeatedRequest requests again a claim that has the lock, though the answer to its request was lost. other is another
// client. The claim is found, and stays the only one of the two requests.
func RepeatedRequest(t *testing.T, d, other claimed.Driver, c driver.Claim) {
	claimed.Enqueue(t, other, claimed.Mutex(c.Name, Long))
	c = claimed.Acquire(t, d, c)
	queue, err := other.Queue(Limit(t), c.Name)
	if err != nil || len(queue) != 2 || queue[0].ID != c.ID || queue[0].Token != c.Token {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
}

// UndoneRequest releases a claim whose request was not answered. other is another client, for which the lock is
// free then; whoever sends a late copy of the request learns that the claim has ended.
func UndoneRequest(t *testing.T, d, other claimed.Driver, c driver.Claim) {
	claimed.Release(t, d, c)
	claimed.Acquire(t, other, claimed.Mutex(c.Name, Long))
	for _, late := range []claimed.Driver{d, other} {
		if _, err := late.Request(Limit(t), c); !errors.Is(err, driver.ErrGone) {
			t.Errorf("a late duplicate of the request answers %v, want ErrGone", err)
		}
	}
}
