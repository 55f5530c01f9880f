package engines

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// Bounds on a quiet machine.
const (
	patience = 100 * time.Millisecond  // of a caller, for a server that never answers
	lateness = 50 * time.Millisecond   // by which a call may outlast its context
	leftFor  = 1500 * time.Millisecond // for which a goroutine may outlast its client: servers have a second
	hang     = 2 * time.Minute         // after which a call will never return

	// margin is the longest pause between two turns of a test, which asks for one each 10 ms, on a quiet machine. A
	// call needs several turns to return, and hops is more than that.
	margin = 15 * time.Millisecond
	hops   = 10
)

// While a server accepts connections and says nothing, each call returns when its context ends, and a client that is
// closed leaves no goroutine behind.
func TestCallsEndWithTheirContexts(t *testing.T) {
	onEach(t, func(t *testing.T, s store, url string) {
		attempts(t, "opening", func(t *attempt) {
			before := goroutines()
			s.pause(t.T.T)
			defer s.resume(t.T.T)
			bounded(t, "Open", func(ctx context.Context) {
				if c, err := holdfast.Open(ctx, url); err == nil {
					c.Close(ctx)
				}
			})
			noneLeft(t.T, before)
		})
		attempts(t, "open", func(t *attempt) {
			before := goroutines()
			c := used(t, url)
			s.pause(t.T.T)
			defer s.resume(t.T.T)
			for _, call := range calls {
				bounded(t, call.name, func(ctx context.Context) { call.make(ctx, c) })
			}
			closed(t, c)
			noneLeft(t.T, before)
		})
		attempts(t, "waiting", func(t *attempt) {
			before := goroutines()
			c, name := used(t, url), driver.NewID()
			lease, err := c.Mutex(name).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.resume(t.T.T)
			bounded(t, "Lock of what is held", func(ctx context.Context) {
				time.AfterFunc(patience/2, func() { s.pause(t.T.T) })
				c.Mutex(name, holdfast.WithLocalHandoff(0)).Lock(ctx)
			})
			bounded(t, "Release", func(ctx context.Context) { lease.Release(ctx) })
			closed(t, c)
			noneLeft(t.T, before)
		})
	})
}

// calls are made one after the other.
var calls = []struct {
	name string
	make func(context.Context, *holdfast.Client)
}{
	{"Queue", func(ctx context.Context, c *holdfast.Client) { c.Queue(ctx, "some") }},
	{"Check", func(ctx context.Context, c *holdfast.Client) { c.Check(ctx) }},
	{"Watch", func(ctx context.Context, c *holdfast.Client) {
		for range c.Watch(ctx, "some") {
		}
	}},
	{"TryLock", func(ctx context.Context, c *holdfast.Client) { c.Mutex("some").TryLock(ctx) }},
	{"Lock", func(ctx context.Context, c *holdfast.Client) { c.Mutex("other").Lock(ctx) }},
}

// used returns a client that has taken and released a lock, and has another one.
func used(t *attempt, url string) *holdfast.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c, err := holdfast.Open(ctx, url, holdfast.WithTTL(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // also of an attempt that was given up
		ctx, cancel := context.WithTimeout(context.Background(), leftFor)
		defer cancel()
		c.Close(ctx)
	})
	if _, err := c.Mutex(driver.NewID()).Lock(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Mutex(driver.NewID()).Do(ctx, noWork); err != nil {
		t.Fatal(err)
	}
	c.Queue(ctx, "some") // not all backends have one, nor anything to check
	c.Check(ctx)
	return c
}

func noWork(context.Context, *holdfast.Lease) error { return nil }

// An ending makes contexts that end after patience.
type ending struct {
	name string
	from func(context.Context) (context.Context, context.CancelFunc)
}

var atDeadline = ending{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}}

// cancelled contexts have a deadline as well, as most contexts have, and it is far away.
var cancelled = ending{"cancellation", func(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, hang)
	time.AfterFunc(patience, cancel)
	return ctx, cancel
}}

// bounded makes a call that must end with its context, however that ends.
func bounded(t *attempt, name string, call func(context.Context)) {
	t.Helper()
	endsWith(t, atDeadline, name, call)
	endsWith(t, cancelled, name, call)
}

// endsWith makes a call that must end with its context.
func endsWith(t *attempt, e ending, name string, call func(context.Context)) {
	t.Helper()
	if late, most := outlasts(t, e, name, call); late > most {
		t.notInTime(fmt.Sprintf("%s returned %v after the %s, want %v at most", name, late, e.name, most), name+e.name)
	}
}

// An attempt is one at a row, with a new client.
type attempt struct {
	*pace.T
	late map[string]bool // calls that were late in an earlier attempt, too
}

// attempts makes attempts at a row.
func attempts(t *testing.T, name string, row func(*attempt)) {
	late := make(map[string]bool)
	pace.Run(t, name, func(t *pace.T) {
		t.Margin(margin)
		row(&attempt{t, late})
	})
}

// notInTime fails the attempt because a call was late. The first time it counts as a stall, which nobody else may have
// noticed, and the row is tried again.
func (t *attempt) notInTime(failure, call string) {
	t.Helper()
	if !t.late[call] {
		t.late[call] = true
		t.Stalled(hang)
	}
	t.Errorf("%s", failure)
}

// closed closes a client, which must end with its context.
func closed(t *attempt, c *holdfast.Client) {
	t.Helper()
	late, most := outlasts(t, atDeadline, "Close", func(ctx context.Context) { c.Close(ctx) })
	if late > most {
		t.notInTime(fmt.Sprintf("Close returned %v after its context had ended, want %v at most", late, most), "Close")
	}
}

// outlasts makes a call, and returns by how much it outlasted its context, and by how much it may.
func outlasts(t *attempt, e ending, name string, call func(context.Context)) (late, most time.Duration) {
	t.Helper()
	ctx, cancel := e.from(t.Context())
	defer cancel()
	ends := time.Now().Add(patience)
	returned, woken := make(chan time.Time, 1), make(chan time.Time, 1)
	go func() {
		call(ctx)
		returned <- time.Now()
	}()
	go func() { // how late whoever waits for the context gets its turn
		<-ctx.Done()
		woken <- time.Now()
	}()
	select {
	case at := <-returned:
		cancel() // a call that returned early need not wait for its end
		return at.Sub(ends), t.Scaled(lateness) + hops*max(0, (<-woken).Sub(ends))
	case <-time.After(hang):
		t.Fatalf("%s has not returned\n%s", name, stacks())
		return 0, 0
	}
}

// noneLeft fails unless all goroutines are gone soon that were not there before.
func noneLeft(t *pace.T, before map[string]bool) {
	t.Helper()
	began := time.Now()
	for {
		left, took := since(before), time.Since(began)
		switch {
		case left == "":
			return
		case took > t.Scaled(leftFor):
			t.Errorf("goroutines are left %v after the client was closed:\n%s", took, left)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// since returns the stacks of goroutines that were not there before.
func since(before map[string]bool) string {
	var left []string
	for _, stack := range strings.Split(stacks(), "\n\n") {
		isSpared := slices.ContainsFunc(spared, func(f string) bool { return strings.Contains(stack, f) })
		if !before[number(stack)] && !isSpared {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// spared are functions in goroutines that may be left: the test itself, and what client libraries do whatever they are
// told.
var spared = []string{
	"engines.since(",
	// pgx asks a server to cancel what was broken off, and waits 15 s for one that says nothing: see docs/sql.md.
	"pgconn.(*PgConn).CancelRequest",
	// rueidis waits for 5 s before it closes connections to a node that has left the cluster, or has another address.
	"rueidis.(*clusterClient)._refresh.func", "rueidis.(*clusterClient).redirectOrNew.func",
}

// goroutines returns the numbers of all that are there.
func goroutines() map[string]bool {
	there := make(map[string]bool)
	for _, stack := range strings.Split(stacks(), "\n\n") {
		there[number(stack)] = true
	}
	return there
}

// number is that of a goroutine, by the first line of its stack.
func number(stack string) (n string) {
	fmt.Sscanf(stack, "goroutine %s", &n)
	return n
}

func stacks() string {
	for buf := make([]byte, 1<<20); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}
