package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	_ "github.com/holdfast-go/holdfast/memlock"
)

// open connects to a store in this process; programs read the URL from their configuration.
func open(ctx context.Context, name string, opts ...holdfast.Option) *holdfast.Client {
	client, err := holdfast.Open(ctx, "mem:"+name, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func Example() {
	ctx := context.Background()
	client, err := holdfast.Open(ctx, "mem:example")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	err = client.Mutex("orders/42").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		fmt.Println("holding", lease.Name())
		return nil
	})
	fmt.Println(err)
	// Output:
	// holding orders/42
	// <nil>
}

func ExampleLease_Detach() {
	ctx := context.Background()
	client := open(ctx, "detach")
	lease, err := client.Mutex("deploy").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	handle, err := lease.Detach(ctx) // the lock stays taken for its TTL; the handle is a text to hand on
	if err != nil {
		log.Fatal(err)
	}
	client.Close(ctx)

	other := open(ctx, "detach") // in another process
	defer other.Close(ctx)
	resumed, err := other.Resume(ctx, handle)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("same token:", resumed.Token() == lease.Token())
	fmt.Println("released:", resumed.Release(ctx))
	// Output:
	// same token: true
	// released: <nil>
}

func ExampleLease_SetValue() {
	ctx := context.Background()
	client := open(ctx, "value")
	defer client.Close(ctx)
	importFrom := func(ctx context.Context, lease *holdfast.Lease) error {
		before, err := lease.Value(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("going on after %q\n", before.Text)
		return lease.SetValue(ctx, before.Text+"I") // nobody else has the lock when this is written
	}
	for range 3 { // by turns, on many machines
		if err := client.Mutex("import").Do(ctx, importFrom); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// going on after ""
	// going on after "I"
	// going on after "II"
}

func ExampleMutex_Lock() {
	ctx := context.Background()
	client := open(ctx, "lock")
	defer client.Close(ctx)

	waiting, cancel := context.WithTimeout(ctx, time.Second) // bounds the wait, not the hold
	defer cancel()
	lease, err := client.Mutex("report").Lock(waiting)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", lease.Err() == nil)
	fmt.Println("released:", lease.Release(ctx))
	fmt.Println("now:", lease.Err())
	// Output:
	// held: true
	// released: <nil>
	// now: lock released
}

// A batch job waits for its lock through any outage, for an hour at most.
func ExampleWithPatience() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	client := open(ctx, "patience",
		holdfast.WithPatience(holdfast.Endless),  // ctx alone says how long
		holdfast.WithFirstAnswer(10*time.Second)) // but a wrong address shows soon
	defer client.Close(ctx)

	lease, err := client.Mutex("nightly").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)
	fmt.Println("holding", lease.Name())
	// Output:
	// holding nightly
}

// A handler tells a lock that others have from a backend that is away.
func ExampleErrUnavailable() {
	status := func(err error) int {
		switch {
		case errors.Is(err, holdfast.ErrUnavailable):
			return http.StatusServiceUnavailable
		case errors.Is(err, holdfast.ErrNotAcquired):
			return http.StatusConflict
		default:
			return http.StatusInternalServerError
		}
	}
	ctx := context.Background()
	client := open(ctx, "unavailable")
	defer client.Close(ctx)
	lease, err := client.Mutex("orders/42").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)
	_, err = client.Mutex("orders/42").TryLock(ctx)
	fmt.Println(status(err))
	// Output:
	// 409
}

func ExampleMutex_TryLock() {
	ctx := context.Background()
	one, other := open(ctx, "try"), open(ctx, "try")
	defer one.Close(ctx)
	defer other.Close(ctx)

	one.Mutex("report").TryLock(ctx)
	_, err := other.Mutex("report").TryLock(ctx)
	fmt.Println(errors.Is(err, holdfast.ErrNotAcquired))
	// Output: true
}

func ExampleRWMutex() {
	ctx := context.Background()
	client := open(ctx, "rw")
	defer client.Close(ctx)

	prices := client.RWMutex("prices")
	a, _ := prices.RLock(ctx)
	b, _ := prices.RLock(ctx)
	_, err := prices.TryLock(ctx)
	fmt.Println("two readers, and a writer:", errors.Is(err, holdfast.ErrNotAcquired))
	a.Release(ctx)
	b.Release(ctx)
	// Output: two readers, and a writer: true
}

func ExampleSemaphore() {
	ctx := context.Background()
	client := open(ctx, "semaphore")
	defer client.Close(ctx)

	licences := client.Semaphore("licences", 3)
	lease, _ := licences.Acquire(ctx, 2)
	_, err := licences.TryAcquire(ctx, 2)
	fmt.Println("2 + 2 of 3:", errors.Is(err, holdfast.ErrNotAcquired))
	lease.Release(ctx)
	_, err = licences.TryAcquire(ctx, 2)
	fmt.Println("after the release:", err)
	// Output:
	// 2 + 2 of 3: true
	// after the release: <nil>
}

func ExampleWithReentrant() {
	ctx := context.Background()
	client := open(ctx, "reentrant", holdfast.WithReentrant())
	defer client.Close(ctx)

	account := client.Mutex("account")
	outer, _ := account.Lock(ctx)
	inner, err := account.Lock(outer.Context()) // the context says who holds it
	fmt.Println(err, inner.Token() == outer.Token())
	inner.Release(ctx)
	fmt.Println("still held:", outer.Err() == nil)
	outer.Release(ctx)
	// Output:
	// <nil> true
	// still held: true
}

// A function far below finds the fencing token of the lock under which it was called.
func ExampleLeaseFrom() {
	ctx := context.Background()
	client := open(ctx, "leasefrom")
	defer client.Close(ctx)

	write := func(ctx context.Context) {
		lease, ok := holdfast.LeaseFrom(ctx)
		fmt.Println("under a lock:", ok)
		if ok {
			fmt.Println(lease.Name(), lease.Token() > 0)
		}
	}
	write(ctx)
	client.Mutex("orders/42").Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
		write(ctx)
		return nil
	})
	// Output:
	// under a lock: false
	// under a lock: true
	// orders/42 true
}

// Work that a holder starts, and that goes on by itself, must not take the holder's lock for its own.
func ExampleWithoutLease() {
	ctx := context.Background()
	client := open(ctx, "withoutlease", holdfast.WithReentrant())
	defer client.Close(ctx)

	report := client.Mutex("report")
	audited := make(chan error, 1)
	report.Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
		go func() {
			_, err := report.TryLock(holdfast.WithoutLease(ctx)) // as everybody does
			audited <- err
		}()
		fmt.Println("taken:", errors.Is(<-audited, holdfast.ErrNotAcquired))
		return nil
	})
	// Output: taken: true
}

func ExampleWithMinHold() {
	ctx := context.Background()
	here, there := open(ctx, "tick"), open(ctx, "tick")
	defer here.Close(ctx)
	defer there.Close(ctx)

	lease, _ := here.Mutex("cleanup", holdfast.WithMinHold(time.Minute)).TryLock(ctx)
	fmt.Println("cleaning up")
	lease.Release(ctx) // returns at once
	_, err := there.Mutex("cleanup").TryLock(ctx)
	fmt.Println("again within the minute:", errors.Is(err, holdfast.ErrNotAcquired))
	// Output:
	// cleaning up
	// again within the minute: true
}

func ExampleWithAsyncRelease() {
	ctx := context.Background()
	client := open(ctx, "async")

	lease, _ := client.Mutex("m", holdfast.WithAsyncRelease()).Lock(ctx)
	fmt.Println("released:", lease.Release(ctx)) // waits for no answer
	fmt.Println("closed:", client.Close(ctx))    // waits until it is given back
	// Output:
	// released: <nil>
	// closed: <nil>
}

func ExampleWithReuse() {
	ctx := context.Background()
	here, there := open(ctx, "reuse"), open(ctx, "reuse")
	defer here.Close(ctx)
	defer there.Close(ctx)

	counter := here.Mutex("counter", holdfast.WithReuse(time.Second))
	for range 1000 { // one round trip, because nobody else wants the lock
		counter.Do(ctx, func(context.Context, *holdfast.Lease) error { return nil })
	}
	_, err := there.Mutex("counter").TryLock(ctx)
	fmt.Println("kept:", errors.Is(err, holdfast.ErrNotAcquired))
	lease, err := there.Mutex("counter").Lock(ctx) // queues, so it is given back at once
	fmt.Println("another client:", lease.Err(), err)
	// Output:
	// kept: true
	// another client: <nil> <nil>
}

func ExampleWithMaxHold() {
	ctx := context.Background()
	client := open(ctx, "max")
	defer client.Close(ctx)

	lease, _ := client.Mutex("m", holdfast.WithMaxHold(10*time.Millisecond)).Lock(ctx)
	<-lease.Done()
	lost, _ := errors.AsType[*holdfast.LostError](lease.Err())
	fmt.Println(lost.Reason)
	// Output: it was held for the longest time allowed
}

func ExampleClient_Queue() {
	ctx := context.Background()
	client := open(ctx, "queue", holdfast.WithOwner("nightly"))
	defer client.Close(ctx)

	client.Mutex("report").Lock(ctx)
	queue, _ := client.Queue(ctx, "report")
	for _, e := range queue {
		fmt.Println(e.Name, "granted:", e.Granted)
	}
	// Output: report granted: true
}

// A page that shows who has a lock is redrawn when that changes.
func ExampleClient_Watch() {
	ctx := context.Background()
	client := open(ctx, "watch", holdfast.WithOwner("nightly report"))
	defer client.Close(ctx)

	var lease *holdfast.Lease
	for queue, err := range client.Watch(ctx, "report") {
		switch {
		case err != nil:
			fmt.Println("not known at the moment:", err) // it goes on
		case lease == nil:
			fmt.Println(len(queue), "in the queue")
			lease, _ = client.Mutex("report").Lock(ctx)
		case len(queue) > 0:
			_, label, _ := strings.Cut(queue[0].Owner, " ")
			fmt.Println("held by", label)
			return
		}
	}
	// Output:
	// 0 in the queue
	// held by nightly report
}

// A program examines its backend when it starts.
func ExampleClient_Check() {
	ctx := context.Background()
	client := open(ctx, "check")
	defer client.Close(ctx)

	findings, err := client.Check(ctx)
	for _, f := range findings {
		if f.Level >= driver.Warning {
			log.Printf("locks: %s; %s", f.Fact, f.Advice)
		}
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		fmt.Println("nothing to examine")
	case err != nil:
		log.Print(err)
	}
	// Output: nothing to examine
}

// Backends remove by themselves what locks leave behind; this is for who would rather have it gone now.
func ExampleClient_Reap() {
	ctx := context.Background()
	client := open(ctx, "reap")
	defer client.Close(ctx)

	removed, err := client.Reap(ctx)
	for _, l := range removed {
		fmt.Println("removed", l.Kind, "of", l.Name)
	}
	fmt.Println(len(removed), err)
	// Output: 0 <nil>
}

func ExampleClient_Notes() {
	ctx := context.Background()
	client := open(ctx, "notes")
	defer client.Close(ctx)

	lease, _ := client.Mutex("report").Lock(ctx)
	client.Revoke(ctx, "report") // elsewhere, where holdfast.WithOwner says who that is
	notes, err := client.Notes(ctx, "report")
	for _, n := range notes {
		fmt.Println(n.Kind, "by somebody:", n.By != "", time.Since(n.At) < time.Minute)
	}
	fmt.Println(err)
	lease.Release(ctx)
	// Output:
	// revoke by somebody: true true
	// <nil>
}

func ExampleClient_Break() {
	ctx := context.Background()
	client := open(ctx, "break")
	defer client.Close(ctx)

	lease, _ := client.Mutex("report").Lock(ctx)
	queue, _ := client.Queue(ctx, "report")
	client.Break(ctx, "report", queue[0].ID)
	fmt.Println(errors.Is(lease.Release(ctx), holdfast.ErrLost))
	// Output: true
}

// printer tells what happens to locks.
type printer struct{}

func (printer) Observe(_ context.Context, e holdfast.Event) {
	fmt.Println(e.Op, e.Kind, e.Name, e.Err)
}

func ExampleWithObserver() {
	ctx := context.Background()
	client := open(ctx, "observer", holdfast.WithObserver(printer{}))
	defer client.Close(ctx)

	client.Mutex("m").Do(ctx, func(context.Context, *holdfast.Lease) error { return nil })
	// Output:
	// acquire mutex m <nil>
	// release mutex m <nil>
}

func ExampleElection() {
	ctx := context.Background()
	client := open(ctx, "election")
	defer client.Close(ctx)

	boss := client.Election("boss")
	lease, _ := boss.Campaign(ctx, "10.0.0.7:8080")
	leader, _ := boss.Leader(ctx)
	fmt.Println("led by", leader.Value)
	lease.Release(ctx) // resign
	_, err := boss.Leader(ctx)
	fmt.Println(errors.Is(err, holdfast.ErrNoLeader))
	// Output:
	// led by 10.0.0.7:8080
	// true
}

func ExampleLockAll() {
	ctx := context.Background()
	client := open(ctx, "all")
	defer client.Close(ctx)

	from, to := client.Mutex("account/2"), client.Mutex("account/1")
	leases, err := holdfast.LockAll(ctx, from, to) // always acquired in the order of names
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(leases[0].Name(), leases[1].Name())
	leases.Release(ctx)
	// Output: account/2 account/1
}

// A transfer moves money between two accounts, whichever comes first.
func ExampleLeases_Do() {
	ctx := context.Background()
	client := open(ctx, "leasesdo")
	defer client.Close(ctx)

	leases, err := holdfast.LockAll(ctx, client.Mutex("account/7"), client.Mutex("account/3"))
	if err != nil {
		log.Fatal(err)
	}
	err = leases.Do(ctx, func(ctx context.Context, ls holdfast.Leases) error { // ctx ends if either lock is lost
		fmt.Println("from", ls[0].Name(), "to", ls[1].Name())
		return ctx.Err()
	})
	fmt.Println(err, errors.Is(leases.Err(), holdfast.ErrReleased))
	// Output:
	// from account/7 to account/3
	// <nil> true
}

// Work that is not a function of its own runs under the context of all leases.
func ExampleLeases_Context() {
	ctx := context.Background()
	client := open(ctx, "leasescontext")
	defer client.Close(ctx)

	leases, err := holdfast.LockAll(ctx, client.Mutex("in"), client.Mutex("out"))
	if err != nil {
		log.Fatal(err)
	}
	held := leases.Context()
	fmt.Println("time is left:", time.Until(leases.ValidUntil()) > time.Second, held.Err())
	leases[1].Release(ctx)
	fmt.Println("one was given back:", errors.Is(context.Cause(held), holdfast.ErrReleased))
	leases.Release(ctx)
	// Output:
	// time is left: true <nil>
	// one was given back: true
}

func ExampleLease_Revoked() {
	ctx := context.Background()
	client := open(ctx, "revoked")
	defer client.Close(ctx)

	lease, _ := client.Mutex("cache").Lock(ctx)
	client.Revoke(ctx, "cache") // elsewhere: somebody wants it
	<-lease.Revoked()
	fmt.Println("asked to let go, still held:", lease.Err() == nil)
	lease.Release(ctx)
	// Output: asked to let go, still held: true
}

// A held lock in figures, as gauges show them.
func ExampleClient_Stats() {
	client, err := holdfast.Open(context.Background(), "mem:stats")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	err = client.Mutex("report").Do(context.Background(), func(context.Context, *holdfast.Lease) error {
		s := client.Stats()
		fmt.Println(s.Backend, s.Held, s.Waiting, s.FailedRenewals, s.Validity > 0)
		return nil
	})
	fmt.Println(err)
	// Output:
	// mem 1 0 0 true
	// <nil>
}
