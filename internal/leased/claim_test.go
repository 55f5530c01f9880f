package leased

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

const ttl = 10 * time.Second

// An entry stands in for a driver's type.
type entry struct {
	Claim
	expirations, ends int
}

var job = driver.Claim{Name: "job", ID: "c1"}

// begin enters a claim that counts how often it expires and ends.
func begin(cs *Claims[*entry]) *entry {
	e, _ := cs.Enter(job, func() *entry {
		e := &entry{}
		e.Begin(job, ttl, func() { e.expirations++ }, func() { e.ends++ })
		return e
	})
	return e
}

func TestUnrenewedClaimLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		time.Sleep(ttl / 2)
		if !e.Live(ttl, Now()) {
			t.Fatal("a renewal in time is refused")
		}
		time.Sleep(ttl - time.Nanosecond)
		synctest.Wait()
		if e.expirations > 0 || e.IsLeaving() || !e.Lives() {
			t.Error("the claim leaves before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e.expirations != 1 || !e.IsLeaving() || e.Lives() {
			t.Errorf("its time has come, and it has expired %d times", e.expirations)
		}
		if e.Live(ttl, Now()) {
			t.Error("a claim that leaves is renewed")
		}
		if e.Left(); !e.Live(ttl, Now()) || e.Remaining() != ttl {
			t.Error("a claim that stays after all is not renewed")
		}
		cs.Forget(e)
	})
}

// A request that was sent before another one is answered after it. Whoever got either answer relies on it.
func TestOlderAnswerShortensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		older := Now()
		time.Sleep(ttl / 2)
		if !e.Live(ttl, Now()) || !e.Live(ttl, older) {
			t.Fatal("a renewal is refused")
		}
		if e.Remaining() != ttl {
			t.Errorf("%v are left, want %v", e.Remaining(), ttl)
		}
		if e.Live(3*ttl, older); e.Remaining() != 3*ttl-ttl/2 || e.Status().TTL != ttl || e.Longest() != 3*ttl {
			t.Errorf("%v are left of %v, at most %v; the older answer promised %v from %v ago",
				e.Remaining(), e.Status().TTL, e.Longest(), 3*ttl, ttl/2)
		}
		time.Sleep(2 * ttl)
		if synctest.Wait(); e.expirations > 0 {
			t.Error("the claim leaves before the time that the older answer promised")
		}
		if e.Live(ttl/5, Now()); e.Remaining() != ttl/5 {
			t.Errorf("a newer request for less leaves %v", e.Remaining())
		}
		cs.Forget(e)
	})
}

// A request that makes this client the one that ends the claim is sent, and not answered. Another client's answer may
// have promised as much.
func TestUnansweredRequestMayHaveCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		time.Sleep(ttl / 2)
		if !e.MayLive(ttl, Now()) {
			t.Fatal("a claim that lives is not to be moved")
		}
		time.Sleep(ttl - time.Nanosecond)
		if synctest.Wait(); e.expirations > 0 || e.IsLeaving() {
			t.Error("the claim leaves before the time that another client may have been promised")
		}
		time.Sleep(time.Nanosecond)
		if synctest.Wait(); e.expirations != 1 {
			t.Errorf("its time has come, and it has expired %d times", e.expirations)
		}
		if e.MayLive(ttl, Now()) {
			t.Error("a claim that leaves is to be moved")
		}
		cs.Forget(e)
	})
}

// A newer request for less ends the claim when that is over, though its timer was set for more.
func TestShorterRenewalEndsSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		e.Live(ttl/5, Now())
		time.Sleep(ttl / 5)
		if synctest.Wait(); e.expirations != 1 {
			t.Errorf("it has expired %d times, want once", e.expirations)
		}
		cs.Forget(e)
	})
}

// The timer has fired, and before it is heard the claim ends: nobody takes out of the queue what is not there.
func TestClaimThatHasEndedDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		time.Sleep(ttl - time.Nanosecond)
		cs.Forget(e)
		time.Sleep(time.Nanosecond)
		if e.expire(); e.expirations > 0 || e.IsLeaving() || e.Live(ttl, Now()) {
			t.Errorf("a claim that is over has expired %d times", e.expirations)
		}
	})
}

func TestEndIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		e.End()
		e.End()
		if e.ends != 1 {
			t.Errorf("told %d times", e.ends)
		}
		<-e.Over()
	})
}

// What has ended is known for the longest TTL that a late request may name; and then not any more.
func TestRemember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		e.Live(3*ttl, Now())
		e.Live(ttl, Now())
		cs.Remember(e)
		time.Sleep(3 * ttl)
		cs.Remember(e) // somebody else has noticed, too
		time.Sleep(3 * ttl)
		if cs.Known(job) != e || !e.IsOver() {
			t.Error("a late request would queue it again")
		}
		time.Sleep(TombstoneGrace)
		synctest.Wait()
		if cs.Known(job) != nil {
			t.Error("it is known for ever")
		}
	})
}

// A claim that is over is in nobody's way, and what was planned for it does not meet the next one with its ID.
func TestEnterAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		first := begin(&cs)
		if again, known := cs.Enter(job, nil); again != first || !known {
			t.Errorf("a claim is there twice, or counts as new: %t", !known)
		}
		cs.Remember(first)
		second, known := cs.Enter(job, func() *entry {
			e := &entry{}
			e.Begin(job, ttl, func() {}, nil)
			return e
		})
		if second == first || known {
			t.Fatal("a claim that is over is entered again")
		}
		for second.Live(ttl, Now()) && second.Longest()+TombstoneGrace > Now().Sub(second.renewed) {
			time.Sleep(ttl / 2)
			if Now().Sub(first.renewed) > 2*(ttl+TombstoneGrace) {
				break
			}
		}
		if cs.Known(job) != second {
			t.Error("the end of the first was forgotten, and with it the second")
		}
		cs.Forget(second)
	})
}

// A claim lives for its TTL from its beginning on, whether anybody answers about it or not.
func TestLifeBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		time.Sleep(ttl - 1)
		if !e.Lives() || e.Remaining() != 1 {
			t.Errorf("it lives: %t, for another %v", e.Lives(), e.Remaining())
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e.Lives() || e.expirations != 1 {
			t.Errorf("it lives: %t, and has expired %d times", e.Lives(), e.expirations)
		}
		cs.Forget(e)
	})
}

// An older answer that adds to the life of a claim does not make it live for ever.
func TestLifeThatAnOlderAnswerAddsTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e, older := begin(&cs), Now()
		time.Sleep(time.Second)
		e.Live(ttl/2, Now())
		e.Live(ttl, older)
		time.Sleep(ttl - time.Second - time.Nanosecond)
		if !e.Lives() || e.IsLeaving() {
			t.Error("it has expired early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e.expirations != 1 {
			t.Errorf("it has expired %d times", e.expirations)
		}
		cs.Forget(e)
	})
}

// What is to be done at the end of a claim is done then, and at once where that is over.
// After the end of the driver nothing is done any more.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e := begin(&cs)
		cs.Stop()
		time.Sleep(2 * ttl)
		synctest.Wait()
		if e.expirations > 0 {
			t.Error("the claim is taken out of the queue after Close")
		}
		if cs.Known(job) != e || e.IsOver() || e.Lives() {
			t.Error("a claim ends with its driver, or lives longer")
		}
	})
}

func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs Claims[*entry]
		e, first := begin(&cs), make(chan struct{})
		go e.Alone(t.Context(), func(context.Context) (driver.Status, error) { // ends with first
			<-first
			return driver.Status{}, nil
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wait := func(context.Context) (driver.Status, error) { return driver.Status{Token: 1}, nil }
		if _, err := e.Alone(ctx, wait); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two wait at once, error %v", err)
		}
		close(first)
		if st, err := e.Alone(t.Context(), wait); st.Token != 1 || err != nil {
			t.Errorf("%+v, %v", st, err)
		}
		cs.Forget(e)
	})
}
