package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A holder whose connection is a black hole knows that it lost the lock before another is granted it: every time.
// When its goroutine runs depends on the machine, too, so the margin, 3% of the TTL, is longer where turns come late.
func TestHolderKnowsFirst(t *testing.T) {
	onServers(t, func(t *testing.T, b backend) {
		t.Parallel() // there is little to do but to wait
		pace.Run(t, "cut off", func(t *pace.T) { holdersKnowFirst(t, b) })
	})
}

func holdersKnowFirst(t *pace.T, b backend) {
	ttl := t.TTL(10 * time.Second)
	t.Margin(ttl * 3 / 100)
	long := holdfast.WithTTL(ttl)
	var all sync.WaitGroup
	for i := range effort.Pick(20, 60) {
		line := proxy.New(t, b.server)
		cutOff, other := open(t, b.at(line.Addr), long), open(t, b.url(), long)
		all.Go(func() {
			if err := losesBeforeGranted(t.Context(), line, cutOff, other, strconv.Itoa(i)); err != nil {
				t.Errorf("round %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// losesBeforeGranted cuts a holder off and has another client wait for its lock.
func losesBeforeGranted(ctx context.Context, line *proxy.Proxy, cutOff, other *holdfast.Client, name string) error {
	lease, err := cutOff.Mutex(name).Lock(ctx)
	if err != nil {
		return err
	}
	known := make(chan time.Time, 1)
	go func() {
		<-lease.Done()
		known <- time.Now()
	}()
	line.BlackHole()
	defer line.Heal()
	next, err := other.Mutex(name).Lock(ctx)
	if err != nil {
		return err
	}
	granted := time.Now()
	if lease.Err() == nil {
		return errors.New("another was granted the lock, and the holder trusts its lease")
	}
	if at := <-known; at.After(granted) {
		return fmt.Errorf("the holder knew %v after another was granted the lock", at.Sub(granted))
	}
	if !errors.Is(lease.Err(), holdfast.ErrLost) || next.Token() <= lease.Token() {
		return fmt.Errorf("lease: %v, tokens %d and then %d", lease.Err(), lease.Token(), next.Token())
	}
	return nil
}

// A request that was applied although its answer was lost is not "taken", and no orphan of it stays.
func TestLostAnswer(t *testing.T) {
	onServers(t, func(t *testing.T, b backend) {
		t.Run("asked again", func(t *testing.T) { askedAgain(t, b) })
		t.Run("given up", func(t *testing.T) { givenUp(t, b) })
	})
}

func askedAgain(t *testing.T, b backend) {
	line := proxy.New(t, b.server)
	client := open(t, b.at(line.Addr))
	warmUp(t, client)
	line.DropNextReplyAfter([]byte("again"))
	lease, err := client.Mutex("again").TryLock(t.Context())
	if err != nil {
		t.Fatalf("the lock was free, and the answer that said so lost: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func givenUp(t *testing.T, b backend) {
	line, direct := proxy.New(t, b.server), open(t, b.url())
	client := open(t, b.at(line.Addr))
	warmUp(t, client)
	line.HangNextReplyAfter([]byte("given-up"))
	queued := func(n int) func() bool {
		return func() bool {
			queue, err := direct.Queue(t.Context(), "given-up")
			return err == nil && len(queue) == n
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	bored := errors.New("bored")
	go func() {
		until(t, queued(1)) // it was applied
		line.BlackHole()
		cancel(bored)
	}()
	_, err := client.Mutex("given-up").TryLock(ctx)
	if !errors.Is(err, holdfast.ErrUnknown) || !errors.Is(err, bored) || errors.Is(err, holdfast.ErrNotAcquired) {
		t.Errorf("error is %v, want one that matches ErrUnknown and the cause, and not ErrNotAcquired", err)
	}
	line.Heal()
	until(t, queued(0))
}

// warmUp makes the client's connections and scripts, so that a fault hits the request that it is meant for.
func warmUp(t *testing.T, c *holdfast.Client) {
	t.Helper()
	nothing := func(context.Context, *holdfast.Lease) error { return nil }
	if err := c.Mutex("warm-up").Do(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
}

// Waiters whose pushes are lost, because the connections for them are killed all the time, are late by a renewal at
// most.
func TestLostPushes(t *testing.T) {
	srv := servers.Redis(t)
	pace.Run(t, "all the time", func(t *pace.T) { lostPushes(t, srv) })
}

func lostPushes(t *pace.T, srv *servers.Server) {
	const waiters = 8
	ttl := t.TTL(ttl)
	killer, stop := context.WithCancel(t.Context())
	killed := make(chan int)
	go func() {
		n := 0
		for killer.Err() == nil {
			killed, err := strconv.Atoi(srv.RedisCommand(t.T, "CLIENT", "KILL", "TYPE", "pubsub"))
			if err != nil {
				t.T.Error(err)
			}
			n += killed
		}
		killed <- n
	}()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var longest time.Duration
	released := time.Now()
	for range waiters {
		c := open(t.T, "redis://"+srv.Addr, holdfast.WithTTL(ttl))
		wg.Go(func() {
			for range 5 {
				lease := lock(t.T, c, 10*waiters*ttl)
				mu.Lock()
				longest = max(longest, time.Since(released))
				mu.Unlock()
				if err := lease.Release(t.Context()); err != nil {
					t.T.Error(err)
				}
				mu.Lock()
				released = time.Now()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	stop()
	if n := <-killed; n == 0 {
		t.Error("no connection was killed, so this shows nothing")
	}
	if limit := ttl/3 + ttl/4; longest > limit {
		t.Errorf("the lock stood idle for %v, want at most a renewal interval, %v", longest, limit)
	}
}

// Waiters that give up at random leave nothing in the queue.
func TestCancelledWaiters(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		const clients, waiters = 10, 100
		patient := holdfast.WithTTL(10 * ttl) // what a crowd does to a busy machine is not this test's matter
		holder := open(t, b.url(), patient)
		lease := lock(t, holder, ttl)
		var wg sync.WaitGroup
		for i := range clients {
			c := open(t, b.url(), patient, holdfast.WithLocalHandoff(i%2))
			for range waiters {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*ttl))
					defer cancel()
					lease, err := c.Mutex(lockName).Lock(ctx)
					switch {
					case err == nil:
						err = lease.Release(context.Background())
					case errors.Is(err, context.DeadlineExceeded):
						err = nil
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		<-time.After(ttl)
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		untilQueued(t, holder, 0)
	})
}
