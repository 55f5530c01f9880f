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
		n += 1 + len(l.queue) + len(l.records) + len(l.ended) + len(l.watchers)
	}
	return n
}

// one does one operation.
func one(t *testing.T, d *Driver, kind driver.Kind, c driver.Claim) (r driver.Result) {
	d.Do(t.Context(), []driver.Op{{Kind: kind, Claim: c}}, func(_ int, got driver.Result) { r = got })
	return r
}

// propose proposes a token for a claim.
func propose(t *testing.T, d *Driver, c driver.Claim, token uint64) (r driver.Result) {
	op := driver.Op{Kind: driver.OpPropose, Claim: c, Token: token}
	d.Do(t.Context(), []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// visitOthers uses the store often enough for a sweep, and leaves nothing behind.
func visitOthers(t *testing.T, d *Driver) {
	t.Helper()
	for range d.store.records() + 2*leastUses {
		if r := one(t, d, driver.OpQueue, driver.Claim{Name: "another"}); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

// Whatever became of its claims, nothing of a lock stays for longer than somebody may still ask.
func TestNothingLeaks(t *testing.T) {
	const locks = 1000
	for name, end := range map[string]func(*testing.T, *Driver, driver.Claim){
		"released": func(t *testing.T, d *Driver, c driver.Claim) { one(t, d, driver.OpRelease, c) },
		"broken":   func(t *testing.T, d *Driver, c driver.Claim) { one(t, d, driver.OpBreak, c) },
		"expired":  func(*testing.T, *Driver, driver.Claim) {},
		"watched": func(t *testing.T, d *Driver, c driver.Claim) { // until the claim expires
			if r := one(t, d, driver.OpWatch, c); r.Err != nil {
				t.Error(r.Err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := New()
				for i := range locks {
					c := claimOn(fmt.Sprint(i), "holder")
					if r := one(t, d, driver.OpRequest, c); r.Err != nil {
						t.Fatal(r.Err)
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
	if r := one(t, d, driver.OpRelease, c); !errors.Is(r.Err, driver.ErrGone) {
		t.Errorf("the release: %v", r.Err)
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
			one(t, d, driver.OpRequest, c)
			one(t, d, driver.OpRelease, c)
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
			r := propose(t, d, c, last+uint64(time.Hour/time.Microsecond))
			if r.Err != nil || !r.Status.Granted || r.Status.Token <= last {
				t.Fatalf("%+v after the token %d", r, last)
			}
			last = r.Status.Token
			if r := one(t, d, driver.OpRelease, c); r.Err != nil {
				t.Fatal(r.Err)
			}
			time.Sleep(testTTL + 1)
			visitOthers(t, d)
			next := claimOn("m", fmt.Sprint("next-", i))
			if r = one(t, d, driver.OpRequest, next); r.Err != nil || r.Status.Token <= last {
				t.Fatalf("%+v after the token %d was given", r, last)
			}
			last = r.Status.Token
			one(t, d, driver.OpRelease, next)
		}
	})
}

// A token of a lock that was forgotten is not given again either to who proposes it.
func TestTokenProposedAfterForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		c := claimOn("m", "holder")
		first := one(t, d, driver.OpRequest, c)
		if first.Err != nil {
			t.Fatal(first.Err)
		}
		one(t, d, driver.OpRelease, c)
		time.Sleep(testTTL + 1)
		visitOthers(t, d)
		if n := d.store.records(); n > 0 {
			t.Fatalf("%d records are left", n)
		}
		r := propose(t, d, claimOn("m", "next"), first.Status.Token)
		if r.Err != nil || !r.Status.Granted || r.Status.Token <= first.Status.Token {
			t.Errorf("after the token %d: %+v", first.Status.Token, r)
		}
	})
}

// A request whose context has ended changes nothing.
func TestRequestTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := New()
	late := driver.Op{Kind: driver.OpRequest, Claim: claimOn("m", "late")}
	d.Do(ctx, []driver.Op{late}, func(_ int, r driver.Result) {
		if !errors.Is(r.Err, context.Canceled) || !errors.Is(r.Err, driver.ErrUnsent) {
			t.Errorf("the request: %v", r.Err)
		}
	})
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
		last := newLock("m", d.store.began, time.Now().Add(later)).clock()
		if r := propose(t, d, c, last); r.Err != nil || r.Status.Token != last {
			t.Fatal(r)
		}
		one(t, d, driver.OpRelease, c)
		time.Sleep(later)
		visitOthers(t, d)
		if r := one(t, d, driver.OpRequest, claimOn("m", "next")); r.Err != nil || r.Status.Token <= last {
			t.Errorf("%+v after the token %d", r, last)
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
			one(t, d, driver.OpRequest, gone)
			one(t, d, driver.OpRelease, gone)
			one(t, d, driver.OpRequest, claimOn(gone.Name, "holder"))
		}
		for range 2 {
			visitOthers(t, d)
			if want := 3 * locks; d.store.kept != want { // of each the lock, its holder, and how the other ended
				t.Errorf("%d records are counted, want %d", d.store.kept, want)
			}
		}
	})
}
