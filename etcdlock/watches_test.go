package etcdlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// inBackground waits for a claim until there is something to tell of it, and sends that.
func inBackground(ctx context.Context, d claimed.Driver, c driver.Claim) <-chan driver.Result {
	got := make(chan driver.Result, 1)
	go func() {
		for {
			st, err := d.Wait(ctx, c)
			if err != nil || st != (driver.Status{}) {
				got <- driver.Result{Status: st, Err: err}
				return
			}
		}
	}()
	return got
}

// A claim that waits is broken, and at about the same time the one ahead is released. If it was broken first, it is not
// granted, in whichever order the client hears of both.
func TestBrokenAndReleasedAtOnce(t *testing.T) {
	addr := server(t).Addr
	client := dial(t, addr)
	other, d, third := open(t, nil, addr), open(t, nil, addr), open(t, nil, addr)
	for i := range effort.Pick(60, 600) {
		name := fmt.Sprint("job", i)
		held := acquire(t, other, claim(name, long))
		waiting := enqueue(t, d, claim(name, long))
		got := inBackground(limit(t), d, waiting)
		until(t, "it watches", func() bool { return watchers(t, addr) == 2 })
		var both sync.WaitGroup
		both.Go(func() {
			if err := other.Break(limit(t), name, waiting.ID); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() { third.Release(limit(t), held) }) // which notes the end: another client queued it
		both.Wait()
		answer := <-got
		if endedAt(t, client, waiting) < endedAt(t, client, held) && !errors.Is(answer.Err, driver.ErrGone) {
			t.Fatalf("round %d: it was broken, and then the answer was %+v", i, answer)
		}
		d.Release(limit(t), waiting) // or it was broken
		until(t, "nobody watches", func() bool { return watchers(t, addr) == 0 })
	}
}

// endedAt is the revision at which a claim ended.
func endedAt(t *testing.T, client *clientv3.Client, c driver.Claim) int64 {
	t.Helper()
	note, err := client.Get(limit(t), "/holdfast/.ended/"+c.Name+"/"+c.ID)
	if err != nil || len(note.Kvs) != 1 {
		t.Fatalf("%+v, %v; want one note of its end", note, err)
	}
	return note.Kvs[0].ModRevision
}

// When the lease of a holder ends that also waits, in another goroutine, the one who waits is not granted the lock.
func TestLeaseOfHolderAndWaiterRevoked(t *testing.T) {
	addr := server(t).Addr
	client, other := dial(t, addr), open(t, nil, addr)
	for i := range effort.Pick(10, 100) {
		d := open(t, nil, addr)
		name := fmt.Sprint("job", i)
		until(t, "nobody watches", func() bool { return watchers(t, addr) == 0 })
		acquire(t, d, claim(name, long))
		got := inBackground(limit(t), d, enqueue(t, d, claim(name, long)))
		next := enqueue(t, other, claim(name, long))
		until(t, "the waiter watches itself and the holder", func() bool { return watchers(t, addr) == 2 })
		keys, err := client.Get(limit(t), "/holdfast/"+name+"/", clientv3.WithFirstCreate()...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Revoke(limit(t), clientv3.LeaseID(keys.Kvs[0].Lease)); err != nil {
			t.Fatal(err)
		}
		if answer := <-got; !errors.Is(answer.Err, driver.ErrGone) {
			t.Errorf("round %d: a claim that is gone is told %+v", i, answer)
		}
		mustBeGranted(t, other, next)
		release(t, other, next)
		d.Close()
	}
}

// Leases that were waited for take no goroutine each and no watch, like those that were free.
func TestWaitedLeasesTakeNoGoroutines(t *testing.T) {
	addr := server(t).Addr
	other := open(t, nil, addr)
	c := holdfast.New(open(t, nil, addr))
	defer c.Close(context.Background())
	const n = 100
	var held []driver.Claim
	for i := range n {
		held = append(held, acquire(t, other, claim(fmt.Sprint("job", i), long)))
	}
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := c.Mutex(fmt.Sprint("job", i), holdfast.WithTTL(long)).Lock(limit(t)); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, "all watch", func() bool { return watchers(t, addr) == 2*n })
	for _, h := range held {
		release(t, other, h)
	}
	all.Wait()
	until(t, "nobody watches", func() bool { return watchers(t, addr) == 0 })
	until(t, "there are few goroutines", func() bool { return runtime.NumGoroutine() <= before+30 })
}

// A permit that was waited for hears nothing of what others do with the rest: its client would keep all of that.
func TestHeldPermitHearsNothing(t *testing.T) {
	addr := server(t).Addr
	other, d := open(t, nil, addr), open(t, nil, addr)
	first := acquire(t, other, units("pool", 1, 3))
	acquire(t, other, units("pool", 1, 3))
	c := enqueue(t, d, units("pool", 2, 3))
	got := inBackground(limit(t), d, c)
	until(t, "it watches", func() bool { return watchers(t, addr) == 2 })
	release(t, other, first)
	if answer := <-got; answer.Err != nil || !answer.Status.Granted {
		t.Fatalf("%+v, want it granted", answer)
	}
	until(t, "nobody watches", func() bool { return watchers(t, addr) == 0 })
	if _, err := d.Request(limit(t), c); err != nil {
		t.Errorf("it was watched for as long as it was held: %v", err)
	}
}

// Whoever waits is not told that its claim is gone when it has moved to another lease.
func TestWaitWhileLeftAlone(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	pace.Run(t, "in time", func(t *pace.T) { waitWhileLeftAlone(t, addr) })
}

func waitWhileLeftAlone(t *pace.T, addr string) {
	ttl := t.TTL(short)
	d, other := open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, other, claim("job"+rand.Text(), long+12*ttl))
	c := enqueue(t, d, claim(held.Name, ttl))
	ctx, cancel := context.WithTimeout(limit(t), 12*ttl) // by then the first lease has been given up
	defer cancel()
	got := make(chan error, 1)
	go func() {
		for {
			if _, err := d.Wait(ctx, c); err != nil {
				got <- err
				return
			}
		}
	}()
	left := c
	left.TTL, left.Detached = long+12*ttl, true
	if _, err := d.Request(ctx, left); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait says %v of a claim that waits", err)
	}
	if queue, err := other.Queue(limit(t), c.Name); err != nil || len(queue) != 2 {
		t.Errorf("%v, %v; want both claims", queue, err)
	}
}
