package redislock_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// mustBeFree fails the test if anybody has the lock, or waits for it.
func mustBeFree(t *testing.T, d claimed.Driver, name string) {
	t.Helper()
	if queue, err := d.Queue(t.Context(), name); err != nil || len(queue) != 0 {
		t.Errorf("left behind: %+v, %v", queue, err)
	}
}

// A request that arrives when its client has long given up, and has released what it may have got, queues nothing.
func TestRequestAfterItsRelease(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	slow, quick := openAt(t, p.Addr, ""), openAt(t, srv.Addr, "")
	release(t, slow, acquire(t, slow, claim("jobs", long))) // the scripts are known
	c := claim("jobs", long)
	late := p.HoldNext([]byte(c.ID))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if st, err := slow.Request(ctx, c); err == nil {
		t.Fatalf("a request that never arrived was answered: %+v", st)
	}
	<-late.Caught()
	if err := quick.Release(t.Context(), c); err != nil && !errors.Is(err, driver.ErrGone) {
		t.Fatalf("Release: %v", err)
	}
	late.Deliver(t)
	mustBeFree(t, quick, "jobs")
}

// What the network repeats does nothing a second time: neither a request that was released since, nor a release when
// somebody else has the lock.
func TestRepeatedByTheNetwork(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d, other := openAt(t, p.Addr, ""), openAt(t, srv.Addr, "")
	release(t, d, acquire(t, d, claim("jobs", long)))
	c := claim("jobs", long)
	request := p.CopyNext([]byte(c.ID))
	held := acquire(t, d, c)
	<-request.Caught()
	ended := p.CopyNext([]byte(c.ID))
	release(t, d, held)
	<-ended.Caught()

	request.Deliver(t)
	mustBeFree(t, other, "jobs")
	next := acquire(t, other, claim("jobs", long))
	ended.Deliver(t)
	request.Deliver(t)
	if queue, err := other.Queue(t.Context(), "jobs"); err != nil || len(queue) != 1 || queue[0].ID != next.ID {
		t.Errorf("the next holder is not alone: %+v, %v", queue, err)
	}
}

// A server whose disk is full refuses all writes, releases too, until that is over. Nobody is told that the lock was
// released, or was not: it is asked for again.
func TestDiskFull(t *testing.T) {
	srv := servers.Redis(t, "--save", "3600", "1000000")
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", long))
	if err := os.RemoveAll(srv.Dir); err != nil {
		t.Fatal(err)
	}
	srv.RedisCommand(t, "BGSAVE")
	eventually(t, "the server cannot save", func() bool {
		return strings.Contains(srv.RedisCommand(t, "INFO", "persistence"), "rdb_last_bgsave_status:err")
	})

	_, requested := d.Request(t.Context(), claim("other", long))
	_, renewed := d.Request(t.Context(), held)
	released := d.Release(t.Context(), held)
	for what, err := range map[string]error{"a request": requested, "a renewal": renewed, "a release": released} {
		if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrGone) ||
			!strings.Contains(err.Error(), "disk") {
			t.Errorf("%s: %v; want an error that tells of the disk and nothing about the outcome", what, err)
		}
	}
	srv.RedisCommand(t, "CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
	release(t, d, acquire(t, d, held))
}

// Of those who wait, the first is killed. The next one is told as soon as the first has expired and the lock is free,
// and nobody has to be there to see it expire.
func TestLineOutlivesItsHead(t *testing.T) {
	srv := servers.Redis(t)
	holder, dead, waiter := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	held := acquire(t, holder, claim("jobs", long))
	head := enqueue(t, dead, claim("jobs", short))
	next := enqueue(t, waiter, claim("jobs", long))
	dead.Close()
	eventually(t, "the dead one has left the line", func() bool {
		queue, err := waiter.Queue(t.Context(), "jobs")
		return err == nil && len(queue) == 2 && queue[1].ID == next.ID
	})
	release(t, holder, held)
	if next.Token <= head.Token {
		t.Errorf("tokens %d, %d, %d in line", held.Token, head.Token, next.Token)
	}
	await(t, waiter, next)
	release(t, waiter, next)
}

// A claim is followed while the first subscription is under way, and revoked before that is confirmed: the server told
// nobody, so whoever follows it has to ask.
func TestFollowBeforeASubscription(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d, other := openAt(t, p.Addr, "").Unwrap(), openAt(t, srv.Addr, "")
	events := make(chan driver.Event, 10)
	defer d.Subscribe(func(e driver.Event) { events <- e })()
	request := func(ctx context.Context, c driver.Claim, follow bool) driver.Claim {
		op := driver.Op{Kind: driver.OpRequest, Claim: c, Follow: follow}
		d.Do(ctx, []driver.Op{op}, func(_ int, r driver.Result) {
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("Request: %+v", r)
			}
			c.Token = r.Status.Token
		})
		return c
	}
	c := claim("jobs", long)
	c.Queue = false // one that waits would wait for the subscription first
	held := request(t.Context(), c, false)

	subscription := p.HoldNext([]byte("SUBSCRIBE"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-subscription.Caught()
		cancel()
	}()
	request(ctx, held, true)
	answered, leave := context.WithCancel(t.Context())
	again := driver.Op{Kind: driver.OpRequest, Claim: held, Follow: true}
	d.Do(answered, []driver.Op{again}, func(_ int, r driver.Result) { // no record names a channel yet
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("a renewal while the subscription is under way: %+v", r)
		}
		leave()
	})
	if err := other.Revoke(t.Context(), "jobs", held.ID); err != nil {
		t.Fatal(err)
	}
	if len(events) > 0 {
		t.Errorf("told %+v, before there was a subscription", <-events)
	}
	subscription.Deliver(t)
	select {
	case e := <-events:
		if e.ID != held.ID || e.Err != nil || e.Status != (driver.Status{}) {
			t.Errorf("told %+v, want to ask about the claim", e)
		}
	case <-time.After(patience):
		t.Error("nobody is told to ask about a claim that was revoked before anybody heard of it")
	}
}
