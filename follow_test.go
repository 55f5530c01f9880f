package holdfast_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A watched is a driver that counts who watches its queues.
type watched struct {
	driver.Driver
	watchers atomic.Int64
	broken   atomic.Bool // watching fails at once
}

var errWatchBroken = errors.New("no way for pushes")

func (d *watched) Watch(ctx context.Context, name string) error {
	if d.broken.Load() {
		return errWatchBroken
	}
	d.watchers.Add(1)
	defer d.watchers.Add(-1)
	return driver.Watch(ctx, d.Driver, name)
}

func (d *watched) Unwrap() driver.Driver { return d.Driver }

// An onlooker that stops leaves nothing behind: the driver forgets its watch soon, and at once when the client is
// closed.
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
				d := &watched{Driver: memlock.New()}
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
				took := time.Since(began)
				if row.name != closed {
					time.Sleep(driver.WatchTime)
				}
				synctest.Wait()
				if n := d.watchers.Load(); n != 0 || took != 0 {
					t.Errorf("it took %v, and %d still watch", took, n)
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

// Where pushes do not come, who looks on asks now and then.
func TestObserveWithoutPushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &watched{Driver: memlock.New()}
		d.broken.Store(true)
		c := newClient(t, d)
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
