package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// meanwhile does something again and again until the test's function has ended.
func meanwhile(pause time.Duration, annoy, during func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for driver.Sleep(ctx, pause) == nil {
			annoy()
		}
	})
	defer wg.Wait()
	defer cancel()
	during()
}

func TestScriptFlush(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	meanwhile(time.Millisecond, func() { srv.RedisCommand(t, "SCRIPT", "FLUSH") }, func() {
		for i := range 100 {
			var claims []driver.Claim
			for j := range 20 {
				claims = append(claims, acquire(t, d, claim(fmt.Sprint("lock ", j), long)))
			}
			results, err := d.Renew(t.Context(), claims)
			if err != nil {
				t.Fatal(err)
			}
			for j, r := range results {
				if r.Err != nil || !r.Status.Granted || r.Status.Token != claims[j].Token {
					t.Fatalf("round %d, renewal %d: %+v, %v", i, j, r.Status, r.Err)
				}
				release(t, d, claims[j])
			}
		}
	})
}

// A waiter whose subscription is cut off again and again asks again when it is back: no push is needed for a grant
// that was missed.
func TestPubSubKilled(t *testing.T) {
	srv := servers.Redis(t)
	pace.Run(t, "subscription killed", func(t *pace.T) { pubSubKilled(t, srv) })
}

func pubSubKilled(t *pace.T, srv *servers.Server) {
	holder, waiter := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	ttl, little := t.TTL(3*time.Second), t.Scaled(time.Second)
	kill := func() { srv.RedisCommand(t, "CLIENT", "KILL", "TYPE", "pubsub") }
	meanwhile(20*time.Millisecond, kill, func() {
		for range 10 {
			held := acquire(t, holder, claim("jobs", long))
			next := claim("jobs", ttl)
			for asked := false; !asked; { // the connection may break while it is being subscribed
				st, err := waiter.Request(t.Context(), next)
				asked, next.Token = err == nil, st.Token
			}
			go func() {
				driver.Sleep(context.Background(), 50*time.Millisecond)
				holder.Release(context.Background(), held)
			}()
			if waited := awaitRenewing(t, waiter, next, ttl/3); waited > 50*time.Millisecond+ttl/3+little {
				t.Errorf("granted after %v, one renewal is %v", waited, ttl/3)
			}
			release(t, waiter, next)
		}
	})
}

// awaitRenewing waits until c is granted, and renews it as a keeper would.
func awaitRenewing(t testing.TB, d claimed.Driver, c driver.Claim, every time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), every)
		st, err := d.Wait(ctx, c)
		cancel()
		if err != nil && ctx.Err() == nil {
			t.Fatalf("Wait: %v", err)
		}
		if !st.Granted {
			st, _ = d.Request(t.Context(), c) // one that is not answered is asked again
		}
		if st.Granted {
			return time.Since(start)
		}
	}
}

// When memory is full no claim is added, but those there are can be renewed, handed on and released.
func TestMemoryFull(t *testing.T) {
	srv := servers.Redis(t, "--maxmemory-policy", "noeviction")
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", long))
	next := enqueue(t, d, claim("jobs", long))
	alone := acquire(t, d, claim("alone", long))
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")

	_, err := d.Request(t.Context(), claim("other", long))
	if !errors.Is(err, driver.ErrUnsent) || !strings.Contains(err.Error(), "memory is full") {
		t.Errorf("a new claim: %v, want ErrUnsent that names the reason", err)
	}
	for _, c := range []driver.Claim{held, next, alone} {
		if _, err := d.Request(t.Context(), c); err != nil {
			t.Errorf("renewal: %v", err)
		}
	}
	if err := d.Revoke(t.Context(), "jobs", held.ID); err != nil {
		t.Errorf("Revoke: %v", err)
	}
	for _, c := range []driver.Claim{held, next, alone} {
		if err := d.Release(t.Context(), c); err != nil {
			t.Errorf("release: %v", err)
		}
	}
}

// A server that makes room by throwing away what has a time to live throws away locks, with all that is known of
// them. The holder learns that it has lost, and the next one's token is greater all the same.
func TestEviction(t *testing.T) {
	srv := servers.Redis(t, "--maxmemory-policy", "volatile-lru")
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", long))
	srv.RedisCommand(t, "SET", "data", "stays")
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
	eventually(t, "the lock is thrown away", func() bool { return srv.RedisCommand(t, "KEYS", "*claims") == "" })
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "0")

	if st, err := d.Request(t.Context(), held); !errors.Is(err, driver.ErrGone) {
		t.Errorf("renewal: %+v, %v; want ErrGone", st, err)
	}
	next := acquire(t, d, claim("jobs", long))
	if next.Token <= held.Token {
		t.Errorf("the next token is %d, after %d", next.Token, held.Token)
	}
	if err := d.Release(t.Context(), held); !errors.Is(err, driver.ErrGone) {
		t.Errorf("release: %v, want ErrGone", err)
	}
	release(t, d, next)
}

// A request that was applied, but whose answer was lost, is repeated by us with the same ID, and is our claim then.
func TestReplyLost(t *testing.T) {
	srv := servers.Redis(t)
	p, d := throughProxy(t, srv)
	c := claim("jobs", long)

	p.DropNextReplyAfter([]byte(c.ID))
	_, err := d.Request(t.Context(), c)
	if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrGone) {
		t.Fatalf("a lost answer: %v, want an error that says nothing about the outcome", err)
	}
	if queue, err := openAt(t, srv.Addr, "").Queue(t.Context(), "jobs"); err != nil || len(queue) != 1 {
		t.Fatalf("the request was not applied: %v, %v", queue, err)
	}
	c = acquire(t, d, c)

	p.DropNextReplyAfter([]byte(c.ID))
	if err := d.Release(t.Context(), c); err == nil || errors.Is(err, driver.ErrGone) {
		t.Fatalf("a release whose answer was lost: %v", err)
	}
	release(t, d, c)
}

// A client that gives up releases by the ID alone: nothing stays queued, and a late copy of the request queues
// nothing.
func TestGivenUp(t *testing.T) {
	srv := servers.Redis(t)
	p, d := throughProxy(t, srv)
	c := claim("jobs", long)
	p.DropNextReplyAfter([]byte(c.ID))
	if _, err := d.Request(t.Context(), c); err == nil {
		t.Fatal("the answer was not lost")
	}
	release(t, d, c)
	if queue, err := d.Queue(t.Context(), "jobs"); err != nil || len(queue) != 0 {
		t.Errorf("left behind: %v, %v", queue, err)
	}
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a late copy: %v, want ErrGone", err)
	}
}

// A server that is gone is no answer.
func TestServerGone(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	c := acquire(t, d, claim("jobs", long))
	srv.Kill(t)
	err := d.Release(t.Context(), c)
	if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrGone) {
		t.Errorf("Release: %v, want an error that says nothing about the outcome", err)
	}
	if _, err := drivertest.Open(t.Context(), "redis://"+srv.Addr); err == nil || errors.Is(err, driver.ErrRefused) {
		t.Errorf("Open: %v, want an error after which one may try again", err)
	}
}

// A push may be lost while the subscription is broken, so whoever waits is told to ask when it is back.
func TestAskAfterReconnect(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", long))
	next := enqueue(t, d, claim("jobs", long))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	srv.RedisCommand(t, "CLIENT", "KILL", "TYPE", "pubsub")
	if st, err := d.Wait(ctx, next); err != nil || st != (driver.Status{}) {
		t.Errorf("after the reconnection Wait says %+v, %v; want to ask again", st, err)
	}
	release(t, d, held)
	if st, err := d.Wait(ctx, next); err != nil || !st.Granted {
		t.Errorf("a push over the new connection: %+v, %v", st, err)
	}
}

func TestServerForgets(t *testing.T) {
	t.Parallel()
	leasedtest.RestartedEmpty(t, leasedtest.Engine{
		Open: func(t testing.TB, addrs ...string) claimed.Driver { return openAt(t, addrs[0], "") },
	}, servers.Redis(t))
}
