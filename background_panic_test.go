package holdfast_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// records keeps what a logger is told.
type records struct {
	slog.Handler
	mu       sync.Mutex
	messages []string
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	r.messages = append(r.messages, text)
	return nil
}

// count is how many messages tell of a panic, with the place where it happened.
func (r *records) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		_, panicked, ok := strings.Cut(m, " panic=")
		if ok && strings.Contains(panicked, errBug.Error()) && strings.Contains(panicked, "_test.go") {
			n++
		}
	}
	return n
}

// A bug is a panic of the driver in the background of client a, beside client b.
type bug struct {
	t     *testing.T
	d     *buggy
	a, b  *holdfast.Client
	seen  *records
	store *memlock.Driver
}

// breakIt breaks the claim of the holder of a lock.
func (u bug) breakIt(name string) {
	u.t.Helper()
	if err := u.b.Break(u.t.Context(), name, queued(u.t, u.b, name)[0].ID); err != nil {
		u.t.Error(err)
	}
}

// endsSoon fails unless a lease whose claim was broken ends before it is renewed.
func (u bug) endsSoon(lease *holdfast.Lease) {
	u.t.Helper()
	u.breakIt(lease.Name())
	synctest.Wait()
	wantErr(u.t, lease.Err(), holdfast.ErrLost)
}

// bugs are the places where a client calls its driver in a goroutine of its own. Each fails unless
// all is well after that.
var bugs = map[string]func(bug){
	"a renewal": func(u bug) {
		lease := must(u.a.Mutex("m").Lock(u.t.Context()))(u.t)
		u.d.arm("request")
		time.Sleep(3 * ttl)
		if err := lease.Check(u.t.Context()); err != nil {
			u.t.Errorf("not renewed after it: %v", err)
		}
	},
	"an undo": func(u bug) {
		must(u.b.RWMutex("m").Lock(u.t.Context()))(u.t)
		ctx, cancel := context.WithTimeout(u.t.Context(), time.Second)
		defer cancel()
		u.d.arm("release")
		wantErr(u.t, second(u.a.RWMutex("m").Lock(ctx)), holdfast.ErrNotAcquired)
		time.Sleep(time.Second)
		if q := queued(u.t, u.b, "m"); len(q) != 1 {
			u.t.Errorf("%d claims, want the holder's", len(q))
		}
	},
	"the request to follow": func(u bug) {
		lease := must(u.a.Mutex("m").Lock(u.t.Context()))(u.t)
		u.d.arm(inFollow)
		lease.Context()
		time.Sleep(ttl) // and a renewal has told it to follow the claim once more
		u.endsSoon(lease)
	},
	"watching": func(u bug) {
		u.d.arm("watch")
		seen := make(chan int)
		go func() {
			for queue, err := range u.a.Watch(u.t.Context(), "m") {
				if err != nil {
					u.t.Error(err)
				}
				if seen <- len(queue); len(queue) > 0 {
					return
				}
			}
		}()
		for n := <-seen; n == 0; n = <-seen {
			synctest.Wait()
			u.b.Mutex("m").TryLock(u.t.Context()) // the first time it gets it
		}
	},
	"what Close gives back": func(u bug) {
		must(u.a.Mutex("m").Lock(u.t.Context()))(u.t)
		must(u.a.Mutex("n").Lock(u.t.Context()))(u.t)
		u.d.arm("release")
		if err := u.a.Close(u.t.Context()); err != nil {
			u.t.Error(err)
		}
		must(u.b.Mutex("m").TryLock(u.t.Context()))(u.t)
		must(u.b.Mutex("n").TryLock(u.t.Context()))(u.t)
	},
}

// A panic of the driver in a goroutine of the client is told, and ends neither the program nor
// anything that others hold.
func TestPanicOfTheDriverInTheBackground(t *testing.T) {
	for place, try := range bugs {
		for _, late := range []bool{false, true} {
			t.Run(place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := bug{t: t, store: memlock.New(), seen: &records{Handler: slog.DiscardHandler}}
					u.d = newBuggy(u.store.Client())
					u.d.late = late
					u.a, u.b = newClient(t, u.d, holdfast.WithLogger(slog.New(u.seen))), newClient(t, u.store.Client())
					beside := must(u.a.Mutex("beside").Lock(t.Context()))(t)
					try(u)
					synctest.Wait()
					if n := u.seen.count(); n != 1 {
						t.Errorf("the logger was told of %d panics: %q", n, u.seen.messages)
					}
					if err := beside.Release(t.Context()); err != nil {
						t.Errorf("another lease: %v", err)
					}
				})
			})
		}
	}
}

// A search for several who wait together goes on for the others when the driver panics: that is for the first of them.
func TestPanicOfTheDriverWhileSeveralWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		d := newBuggy(store.Client())
		d.late = true
		a, b := newClient(t, d), newClient(t, store.Client())
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		first, next := make(chan any, 1), make(chan *holdfast.Lease, 1)
		d.arm(inNews)
		go func() { first <- caught(t, func() { a.Mutex("m").Lock(t.Context()) }) }()
		synctest.Wait()
		go func() { next <- must(a.Mutex("m").Lock(t.Context()))(t) }()
		synctest.Wait()
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if what := <-first; !isBug(what) {
			t.Errorf("the first got %v", what)
		}
		if err := (<-next).Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		noneQueued(t, b, "m")
	})
}

// A panic in a Check goes on up, and neither renews nor blocks anything.
func TestPanicOfTheDriverInCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBuggy(memlock.New())
		a := newClient(t, d)
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		d.arm("request")
		if what := caught(t, func() { lease.Check(t.Context()) }); what != errBug {
			t.Errorf("the panic became %v", what)
		}
		must(lease.Detach(t.Context()))(t)
	})
}

// A panic in a Detach goes on up, and the lease goes on.
func TestPanicOfTheDriverInDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBuggy(memlock.New())
		a := newClient(t, d)
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		d.arm("request")
		if what := caught(t, func() { lease.Detach(t.Context()) }); what != errBug {
			t.Errorf("the panic became %v", what)
		}
		time.Sleep(3 * ttl)
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A lock whose minimum hold is not over when the driver panics stays taken until it is, and not for ever.
func TestPanicOfTheDriverBeforeTheLeastTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		d := newBuggy(store.Client())
		a, b := newClient(t, attached(d)), newClient(t, store.Client())
		lease := must(a.Mutex("m", holdfast.WithMinHold(3*ttl)).Lock(t.Context()))(t)
		start := time.Now()
		d.arm("request")
		if what := caught(t, func() { lease.Release(t.Context()) }); what != errBug {
			t.Errorf("the panic became %v", what)
		}
		must(b.Mutex("m").Lock(t.Context()))(t)
		if held := time.Since(start); held < 3*ttl || held > 3*ttl+time.Second {
			t.Errorf("it was held for %v, want %v", held, 3*ttl)
		}
	})
}

// An observer that panics in the goroutine of the client is told of all that follows; so is a logger.
func TestPanicOfTheObserverInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &records{Handler: slog.DiscardHandler}
		store := memlock.New()
		observer := holdfast.WithObserver(&panickingObserver{holdfast.OpLose})
		a := newClient(t, store.Client(), observer, holdfast.WithLogger(slog.New(seen)))
		u := bug{t: t, b: newClient(t, store.Client())}
		for _, name := range []string{"m", "n"} {
			lease := must(a.Mutex(name).Lock(t.Context()))(t)
			lease.Context()
			time.Sleep(ttl / 10) // until the backend was told to tell
			u.endsSoon(lease)
		}
		synctest.Wait()
		if n := seen.count(); n != 2 {
			t.Errorf("the logger was told of %d panics of 2: %q", n, seen.messages)
		}
	})
}

type panickingLogger struct {
	*records
	once sync.Once
}

func (p *panickingLogger) Handle(ctx context.Context, r slog.Record) error {
	p.once.Do(func() { panic(errBug) })
	return p.records.Handle(ctx, r)
}

func TestPanicOfTheLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &records{Handler: slog.DiscardHandler}
		store := memlock.New()
		a := newClient(t, store.Client(), holdfast.WithLogger(slog.New(&panickingLogger{records: seen})))
		u := bug{t: t, b: newClient(t, store.Client())}
		for _, name := range []string{"m", "n"} {
			lease := must(a.Mutex(name).Lock(t.Context()))(t)
			lease.Context()
			time.Sleep(ttl / 10) // until the backend was told to tell
			u.endsSoon(lease)
		}
		synctest.Wait()
		if len(seen.messages) != 1 || !strings.Contains(seen.messages[0], "lock=n") {
			t.Errorf("the logger was told %q", seen.messages)
		}
	})
}

// A driver that panics as it is closed is an error of Close.
func TestPanicOfTheDriverInClose(t *testing.T) {
	c := must(holdfast.Open(t.Context(), "panicking:x"))(t)
	err := c.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), errBug.Error()) || errors.Is(err, errBug) {
		t.Errorf("Close: %v", err)
	}
}

func init() {
	driver.Register("panicking", func(context.Context, *url.URL) (driver.Driver, error) {
		d := newBuggy(memlock.New())
		d.arm(inClose)
		return d, nil
	})
}
