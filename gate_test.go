package holdfast_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Goroutines of one client keep one claim between them.
func TestGateSharesOneClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goroutines = 1500
		l, a, _, first := firstHolds(t)
		last := first.Token()
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				lease := must(a.Mutex("m").Lock(t.Context()))(t)
				if lease.Token() <= last {
					t.Errorf("token %d after %d", lease.Token(), last)
				}
				last = lease.Token()
				lease.Release(t.Context())
			})
		}
		synctest.Wait()
		first.Release(t.Context())
		wg.Wait()
		if n := l.count("request"); n > goroutines/1023+2 {
			t.Errorf("%d requests for %d acquisitions", n, goroutines)
		}
	})
}

// The lock goes round among clients after a bounded number of local hand-offs.
func TestGateLetsOthersIn(t *testing.T) {
	for _, handoff := range []int{0, 1, 16} {
		synctest.Test(t, func(t *testing.T) {
			_, a, b := twoClients(t, holdfast.WithLocalHandoff(handoff))
			first := must(a.Mutex("m").Lock(t.Context()))(t)
			var order []*holdfast.Client
			var wg sync.WaitGroup
			for _, c := range []*holdfast.Client{a, b} {
				for range 100 {
					wg.Go(func() {
						c.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
							order = append(order, c)
							time.Sleep(10 * time.Millisecond)
							return nil
						})
					})
				}
				synctest.Wait()
			}
			first.Release(t.Context())
			wg.Wait()
			if run := longestRun(order[:len(order)-100]); handoff > 0 && run > handoff+1 {
				t.Errorf("hand-off %d: one client had the lock %d times in a row", handoff, run)
			}
		})
	}
}

// However short the sections and slow the answers, a client that waits elsewhere has its turn after so many hand-offs.
func TestGateLetsOthersInBeforeItKnows(t *testing.T) {
	for _, handoff := range []int{1, 16, 255} {
		synctest.Test(t, func(t *testing.T) {
			const goroutines = 600
			l, a, b := twoClients(t, holdfast.WithLocalHandoff(handoff))
			first := must(a.Mutex("m").Lock(t.Context()))(t)
			l.set(faults{slow: 5 * time.Millisecond})
			var mu sync.Mutex
			var order []*holdfast.Client
			visits := func() int {
				mu.Lock()
				defer mu.Unlock()
				return len(order)
			}
			var wg sync.WaitGroup
			visit := func(c *holdfast.Client) {
				c.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
					mu.Lock()
					order = append(order, c)
					mu.Unlock()
					time.Sleep(time.Microsecond)
					return nil
				})
			}
			for range goroutines {
				wg.Go(func() { visit(a) })
			}
			synctest.Wait()
			first.Release(t.Context())
			time.Sleep(handoffTime(handoff))
			before := visits()
			wg.Go(func() { visit(b) })
			wg.Wait()
			if i := slices.Index(order, b) - before; i > handoff+1 || len(order) != goroutines+1 {
				t.Errorf("hand-off %d: %d visits before that of the other client, %d in all", handoff, i, len(order))
			}
		})
	}
}

// handoffTime is when a gate has handed on for a while, and waits for no answer.
func handoffTime(handoff int) time.Duration { return time.Duration(min(handoff, 3)) * time.Microsecond }

func longestRun[T comparable](s []T) int {
	longest, run := 0, 0
	for i := range s {
		if i > 0 && s[i] == s[i-1] {
			run++
		} else {
			run = 1
		}
		longest = max(longest, run)
	}
	return longest
}

// Without local hand-off the order is that of the requests, whoever made them.
func TestStrictOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t, holdfast.WithLocalHandoff(0))
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		var got []int
		var wg sync.WaitGroup
		for i := range 20 {
			c := []*holdfast.Client{a, b}[i/3%2]
			wg.Go(func() {
				c.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error {
					got = append(got, i)
					return nil
				})
			})
			synctest.Wait()
		}
		lease.Release(t.Context())
		wg.Wait()
		for i := range got {
			if got[i] != i {
				t.Fatalf("order is %v", got)
			}
		}
	})
}

// When the first at a gate gives up, those behind it keep its place in the queue.
func TestGateOutlivesItsFirstVisitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoClients(t)
		lease := must(b.Mutex("m").Lock(t.Context()))(t)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := a.Mutex("m").Lock(short)
			wantErr(t, err, holdfast.ErrNotAcquired)
		})
		synctest.Wait()
		place := queued(t, b, "m")[1].ID
		granted := false
		wg.Go(func() {
			must(a.Mutex("m").Lock(t.Context()))(t)
			granted = true
		})
		time.Sleep(2 * time.Second)
		if q := queued(t, b, "m"); len(q) != 2 || q[1].ID != place {
			t.Errorf("the place in the queue was lost: %v", q)
		}
		lease.Release(t.Context())
		wg.Wait()
		if !granted {
			t.Error("the second visitor was never granted the lock")
		}
	})
}

// A lost lock is sought anew for those who wait at the gate.
func TestGateSurvivesLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b, lost := firstHolds(t)
		lost.Done()
		done := make(chan error)
		go func() {
			done <- a.Mutex("m").Do(t.Context(), func(context.Context, *holdfast.Lease) error { return nil })
		}()
		synctest.Wait()
		b.Break(t.Context(), "m", queued(t, b, "m")[0].ID)
		if err := <-done; err != nil {
			t.Error(err)
		}
		wantErr(t, lost.Release(t.Context()), holdfast.ErrLost)
		noneQueued(t, b, "m")
	})
}

// A hold is not handed on when little is left of it.
func TestNoHandoffNearTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, _, lease := firstHolds(t)
		done := make(chan time.Time)
		go func() {
			next := must(a.Mutex("m").Lock(t.Context()))(t)
			done <- next.ValidUntil()
		}()
		synctest.Wait()
		l.set(faults{cut: true})
		time.Sleep(ttl * 9 / 10)
		l.set(faults{})
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if until := <-done; time.Until(until) < ttl/2 {
			t.Errorf("the next got a lease of %v", time.Until(until))
		}
	})
}

// A lock that nobody has until the backend says who else waits is given back when the client closes, though the answer
// never comes.
func TestCloseWhileTheGateAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a, b := twoClients(t, holdfast.WithLocalHandoff(1))
		first := must(a.Mutex("m").Lock(t.Context()))(t)
		leases := make(chan *holdfast.Lease, 2)
		var visitors sync.WaitGroup
		for range 2 {
			visitors.Go(func() {
				if lease, err := a.Mutex("m").Lock(t.Context()); err == nil {
					leases <- lease
				}
			})
		}
		synctest.Wait()
		l.set(faults{mute: true})
		if err := first.Release(t.Context()); err != nil { // to the next, and the backend is asked
			t.Fatal(err)
		}
		if err := (<-leases).Release(t.Context()); err != nil { // to nobody until it answers
			t.Fatal(err)
		}
		synctest.Wait()
		if len(leases) > 0 {
			t.Fatal("handed on twice without an answer")
		}
		ctx, cancel := context.WithTimeout(t.Context(), ttl/10)
		defer cancel()
		a.Close(ctx) // whose own question is not answered either
		visitors.Wait()
		if _, err := b.Mutex("m").TryLock(t.Context()); err != nil {
			t.Errorf("the lock stays taken: %v", err)
		}
	})
}
