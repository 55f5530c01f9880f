package memlock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

const testTTL = 10 * time.Second

func claimOn(name, id string) driver.Claim {
	return driver.Claim{Name: name, ID: id, Weight: 1, Limit: 1, TTL: testTTL, Queue: true}
}

// records counts all that a store keeps.
func (s *store) records() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.locks {
		n += 1 + len(l.queue) + len(l.records) + len(l.ended) + max(l.watch.watchers, 0)
	}
	return n
}

// visitOthers uses the store often enough for a sweep, and leaves nothing behind.
func visitOthers(t *testing.T, d *Driver) {
	t.Helper()
	for range d.store.records() + 2*leastUses {
		if _, err := d.Queue(t.Context(), "another"); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever became of its claims, nothing of a lock stays for longer than somebody may still ask.
func TestNothingLeaks(t *testing.T) {
	const locks = 1000
	for name, end := range map[string]func(*testing.T, *Driver, driver.Claim){
		"released": func(t *testing.T, d *Driver, c driver.Claim) { d.Release(t.Context(), c) },
		"broken":   func(t *testing.T, d *Driver, c driver.Claim) { d.Break(t.Context(), c.Name, c.ID) },
		"expired":  func(*testing.T, *Driver, driver.Claim) {},
		"watched": func(t *testing.T, d *Driver, c driver.Claim) {
			if err := d.Watch(t.Context(), c.Name); err != nil { // until the claim expires
				t.Error(err)
			}
		},
		"watched too late": func(t *testing.T, d *Driver, c driver.Claim) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := d.Watch(ctx, c.Name); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := New()
				for i := range locks {
					c := claimOn(fmt.Sprint(i), "holder")
					if _, err := d.Request(t.Context(), c); err != nil {
						t.Fatal(err)
					}
					go end(t, d, c)
				}
				synctest.Wait()
				for range 2 { // the claims expire, and then what is known about them
					time.Sleep(testTTL + 1)
					synctest.Wait()
					visitOthers(t, d)
				}
				if n := d.store.records(); n > 0 {
					t.Errorf("%d records are left", n)
				}
			})
		})
	}
}

// To release under a token what is not queued bars nothing: who knows the token has no request under way.
func TestTokenBarsNothing(t *testing.T) {
	d := New()
	c := claimOn("m", "holder")
	c.Token = 5
	if err := d.Release(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Release: %v", err)
	}
	if n := d.store.records(); n > 0 {
		t.Errorf("%d records are left", n)
	}
}

// A store that is in use for long keeps what is alive and what ended a short time ago.
func TestGarbageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perTTL = 1000
		d := New()
		for i := range 50 * perTTL {
			c := claimOn("m", fmt.Sprint(i))
			d.Request(t.Context(), c)
			d.Release(t.Context(), c)
			time.Sleep(testTTL / perTTL)
		}
		if n := d.store.records(); n > 3*perTTL {
			t.Errorf("%d records, while %d claims ended during the last TTL", n, perTTL)
		}
	})
}

// Tokens go on growing on a lock that was forgotten, also when somebody chose one that is far ahead of the clock.
func TestTokensGrowAfterForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		last := uint64(0)
		for i := range 5 {
			c := claimOn("m", fmt.Sprint("holder-", i))
			st, err := d.Propose(t.Context(), c, last+uint64(time.Hour/time.Microsecond))
			if err != nil || !st.Granted || st.Token <= last {
				t.Fatalf("token %d after %d, error %v", st.Token, last, err)
			}
			last = st.Token
			if err := d.Release(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			time.Sleep(testTTL + 1)
			visitOthers(t, d)
			next := claimOn("m", fmt.Sprint("next-", i))
			if st, err = d.Request(t.Context(), next); err != nil || st.Token <= last {
				t.Fatalf("token %d after %d was given, error %v", st.Token, last, err)
			}
			last = st.Token
			d.Release(t.Context(), next)
		}
	})
}

// A token of a lock that was forgotten is not given again either to who proposes it.
func TestTokenProposedAfterForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		c := claimOn("m", "holder")
		first, err := d.Request(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		d.Release(t.Context(), c)
		time.Sleep(testTTL + 1)
		visitOthers(t, d)
		if n := d.store.records(); n > 0 {
			t.Fatalf("%d records are left", n)
		}
		st, err := d.Propose(t.Context(), claimOn("m", "next"), first.Token)
		if err != nil || !st.Granted || st.Token <= first.Token {
			t.Errorf("after the token %d: %+v, %v", first.Token, st, err)
		}
	})
}

// A request whose context has ended changes nothing.
func TestRequestTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := New()
	if _, err := d.Request(ctx, claimOn("m", "late")); !errors.Is(err, context.Canceled) {
		t.Errorf("Request: %v", err)
	}
	if n := d.store.records(); n > 0 {
		t.Errorf("%d records are left", n)
	}
}

// A lock is kept while the clock has not passed its last token: it would be given again.
func TestTokenAtTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const later = testTTL + time.Second
		d := New()
		c := claimOn("m", "holder")
		last := newLock(d.store.began, time.Now().Add(later)).clock()
		if st, err := d.Propose(t.Context(), c, last); err != nil || st.Token != last {
			t.Fatal(st, err)
		}
		d.Release(t.Context(), c)
		time.Sleep(later)
		visitOthers(t, d)
		if st, err := d.Request(t.Context(), claimOn("m", "next")); err != nil || st.Token <= last {
			t.Errorf("token %d after %d, %v", st.Token, last, err)
		}
	})
}

// A sweep counts what it leaves, because so many uses pay for the next one.
func TestSweepsArePaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const locks = 3 * leastUses
		d := New()
		for i := range locks {
			gone := claimOn(fmt.Sprint(i), "gone")
			d.Request(t.Context(), gone)
			d.Release(t.Context(), gone)
			d.Request(t.Context(), claimOn(gone.Name, "holder"))
		}
		for range 2 {
			visitOthers(t, d)
			if want := 3 * locks; d.store.kept != want { // of each the lock, its holder, and how the other ended
				t.Errorf("%d records are counted, want %d", d.store.kept, want)
			}
		}
	})
}
