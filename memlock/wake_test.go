package memlock_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/memlock"
)

func mutex(id string) driver.Claim {
	return driver.Claim{Name: "m", ID: id, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
}

func reader(id string) driver.Claim {
	c := mutex(id)
	c.Limit = driver.All
	return c
}

func writer(id string) driver.Claim {
	c := reader(id)
	c.Weight = driver.All
	return c
}

var request, release = claimed.Ask, claimed.Release

// open returns a client of a new store.
func open() *drivertest.Facade { return drivertest.NewFacade(memlock.New()) }

// taken returns a store in which a claim has the lock.
func taken(t *testing.T) (*drivertest.Facade, driver.Claim) {
	t.Helper()
	d, holder := open(), mutex("holder")
	request(t, d, holder, true)
	return d, holder
}

// endsAfter fails unless it is exactly so long since what began then, as it is in a bubble.
func endsAfter(t *testing.T, began time.Time, want time.Duration) {
	t.Helper()
	if took := time.Since(began); took != want {
		t.Errorf("that took %v, want %v", took, want)
	}
}

// The end of a claim wakes exactly the claims that it makes grantable, however many wait.
func TestNoHerd(t *testing.T) {
	for _, tt := range []struct {
		name      string
		waiters   []func(id string) driver.Claim
		wantWoken int64
	}{
		{"a mutex wakes one", []func(string) driver.Claim{mutex, mutex, mutex}, 1},
		{"a writer wakes the readers behind it", []func(string) driver.Claim{reader, reader, writer, reader}, 2},
		{"a writer wakes the next writer", []func(string) driver.Claim{writer, reader, reader}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open()
				holder := writer("holder")
				request(t, d, holder, true)
				var woken atomic.Int64
				for i, kind := range tt.waiters {
					c := kind(fmt.Sprint("waiter-", i))
					request(t, d, c, false)
					go func() {
						if st, err := d.Wait(t.Context(), c); err == nil && st.Granted {
							woken.Add(1)
						} else if t.Context().Err() == nil {
							t.Errorf("%s woke with %+v, %v", c.ID, st, err)
						}
					}()
				}
				synctest.Wait()
				release(t, d, holder)
				synctest.Wait()
				if got := woken.Load(); got != tt.wantWoken {
					t.Errorf("%d waiters woke, want %d", got, tt.wantWoken)
				}
			})
		})
	}
}

// The next in line learns at once that the claim that blocks it expired, though nobody tells.
func TestWaitNoticesExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open()
		dead, next := mutex("dead"), mutex("next")
		dead.TTL = 10 * time.Second
		request(t, d, dead, true)
		st := request(t, d, next, false)
		if st.Retry != dead.TTL {
			t.Errorf("Retry is %v, want %v", st.Retry, dead.TTL)
		}
		began := time.Now()
		if st, err := d.Wait(t.Context(), next); err != nil || !st.Granted {
			t.Errorf("Wait = %+v, %v; want it granted", st, err)
		}
		endsAfter(t, began, dead.TTL)
	})
}

// A holder that does not renew learns of its end from Wait when it comes, and a renewal puts that off.
func TestWaitNoticesOwnExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, holder := taken(t)
		began := time.Now()
		go func() {
			time.Sleep(holder.TTL / 2)
			request(t, d, holder, true)
		}()
		if _, err := d.Wait(t.Context(), holder); err != driver.ErrGone {
			t.Errorf("Wait: %v, want ErrGone", err)
		}
		endsAfter(t, began, holder.TTL*3/2)
	})
}

// One who waits learns at once that the claim was broken.
func TestWaitNoticesItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := taken(t)
		waiter := mutex("waiter")
		request(t, d, waiter, false)
		began := time.Now()
		time.AfterFunc(time.Second, func() { d.Break(t.Context(), waiter.Name, waiter.ID) })
		if _, err := d.Wait(t.Context(), waiter); err != driver.ErrGone {
			t.Errorf("Wait: %v, want ErrGone", err)
		}
		endsAfter(t, began, time.Second)
	})
}

// A claim lives until the instant at which its TTL has passed, and not a nanosecond longer.
func TestExpiryIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open()
		holder, try := mutex("holder"), mutex("try")
		try.Queue = false
		request(t, d, holder, true)
		time.Sleep(holder.TTL - 1)
		request(t, d, try, false)
		time.Sleep(time.Nanosecond)
		request(t, d, try, true)
	})
}

// Watch returns when a claim expires, though nothing else happens.
func TestWatchNoticesExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, holder := taken(t)
		began := time.Now()
		if err := d.Watch(t.Context(), holder.Name); err != nil {
			t.Fatal(err)
		}
		endsAfter(t, began, holder.TTL)
	})
}

// A renewal changes nothing that others see, so it wakes no watcher.
func TestRenewalIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, holder := taken(t)
		watched := make(chan error, 1)
		go func() { watched <- d.Watch(t.Context(), holder.Name) }()
		synctest.Wait()
		request(t, d, holder, true)
		synctest.Wait()
		select {
		case err := <-watched:
			t.Errorf("Watch returned %v after a renewal", err)
		default:
		}
		release(t, d, holder)
		if err := <-watched; err != nil {
			t.Error(err)
		}
	})
}

// A claim that was left alone for a short time had a long TTL before. A request from then may still come late, and must
// not take the lock for nobody.
func TestShortEndBarsForTheLongestTTL(t *testing.T) {
	for _, end := range []string{"expired", "released"} {
		synctest.Test(t, func(t *testing.T) {
			d := open()
			holder := mutex("holder")
			left := holder
			left.Token = request(t, d, holder, true).Token
			left.TTL, left.Detached = time.Second, true
			request(t, d, left, true)
			if end == "released" {
				release(t, d, left)
			}
			time.Sleep(holder.TTL - time.Second)
			if st, err := d.Request(t.Context(), holder); err != driver.ErrGone {
				t.Errorf("%s: a late request got %+v, %v", end, st, err)
			}
		})
	}
}
