package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A watched driver counts how often it is asked to watch queues, and who has it tell of them.
type watched struct {
	driver.Driver
	asked       atomic.Int64
	subscribers atomic.Int64
}

func watch(d driver.Driver) *watched {
	w := &watched{}
	w.Driver = batch.Intercept(d, func(_ context.Context, op driver.Op, next next) driver.Result {
		if op.Kind == driver.OpWatch {
			w.asked.Add(1)
		}
		return next(op)
	})
	return w
}

func (w *watched) Subscribe(tell func(driver.Event)) (stop func()) {
	w.subscribers.Add(1)
	forget := w.Driver.Subscribe(tell)
	return sync.OnceFunc(func() {
		w.subscribers.Add(-1)
		forget()
	})
}

// An onlooker that stops leaves nothing behind: the driver is asked to watch no more, so that it forgets the watch
// soon, and has nobody to tell once the client is closed.
func TestObserveLeavesNothingBehind(t *testing.T) {
	const closed = "the client is closed"
	for _, row := range []struct {
		name string
		stop func(c *holdfast.Client, cancel context.CancelFunc) (goOn bool)
	}{
		{"the loop is left", func(*holdfast.Client, context.CancelFunc) bool { return false }},
		{"the context ends", func(_ *holdfast.Client, cancel context.CancelFunc) bool { cancel(); return true }},
		{closed, func(c *holdfast.Client, _ context.CancelFunc) bool {
			go c.Close(context.Background())
			return true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := watch(memlock.New())
				c := newClient(t, d)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				for range c.Election("boss").Observe(ctx) {
					if !row.stop(c, cancel) {
						break
					}
				}
				synctest.Wait()
				took, asked := time.Since(began), d.asked.Load()
				if n := d.subscribers.Load(); row.name == closed && n != 0 {
					t.Errorf("%d are still to be told", n)
				}
				time.Sleep(2 * driver.WatchTime)
				if n := d.asked.Load() - asked; asked == 0 || n != 0 || took != 0 {
					t.Errorf("it took %v, and asked to watch %d times, and %d times after that", took, asked, n)
				}
			})
		})
	}
}

// Who looks on is told of an outage, and goes on after it: with the leader, though it is the same.
func TestObserveOutlastsErrors(t *testing.T) {
	for name, outage := range map[string]faults{
		"refused": {refuse: driver.ErrRefused}, "no answer": {cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cable, a, b := twoClients(t)
				must(b.Election("boss").Campaign(t.Context(), "b"))(t)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				var seen []string
				failures := 0
				for leader, err := range a.Election("boss").Observe(ctx) {
					switch {
					case err != nil && failures == 0:
						failures++
						time.AfterFunc(time.Hour, func() { cable.set(faults{}) })
					case err != nil:
						failures++
					default:
						seen = append(seen, leader.Value)
						cable.set(outage)
						if len(seen) == 2 {
							cancel()
						}
					}
				}
				if len(seen) != 2 || seen[1] != "b" {
					t.Errorf("seen: %q", seen)
				}
				if failures < 2 || failures > 3600 {
					t.Errorf("%d errors in an hour", failures)
				}
			})
		})
	}
}

// Where pushes do not come, because watching fails or nothing is told, who looks on asks now and then.
func TestObserveWithoutPushes(t *testing.T) {
	for name, unpushed := range map[string]func(driver.Driver) driver.Driver{
		"nothing is told": func(d driver.Driver) driver.Driver { return untold{d} },
		"watching fails": func(d driver.Driver) driver.Driver {
			return batch.Intercept(d, func(_ context.Context, op driver.Op, next next) driver.Result {
				if op.Kind == driver.OpWatch {
					return driver.Result{Err: errors.New("no way for pushes")}
				}
				return next(op)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t, unpushed(memlock.New()))
				time.AfterFunc(time.Hour, func() { must(c.Election("boss").Campaign(context.Background(), "c"))(t) })
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				for leader, err := range c.Election("boss").Observe(ctx) {
					if leader.Value == "c" {
						break
					}
					if !errors.Is(err, holdfast.ErrNoLeader) {
						t.Errorf("observed %+v, %v", leader, err)
					}
				}
				if late := time.Since(began) - time.Hour; late > ttl {
					t.Errorf("the leader was seen %v late", late)
				}
			})
		})
	}
}

// The last word of a client that was closed is that it was.
func TestObserveOfAClosedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoClients(t)
		time.AfterFunc(time.Second, func() { a.Close(context.Background()) })
		var last error
		for _, err := range a.Election("boss").Observe(t.Context()) {
			last = err
		}
		wantErr(t, last, holdfast.ErrClosed)
	})
}

// A TTL that no lock can have makes nobody look all the time.
func TestObserveWithoutTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, _ := twoClients(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range a.Election("boss", holdfast.WithTTL(0)).Observe(ctx) {
		}
		if n := cable.count("queue"); n > 2000 {
			t.Errorf("%d looks in a minute", n)
		}
	})
}
