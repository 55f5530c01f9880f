package claimstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// soon is well below how long a sleeper sleeps in the server that nothing wakes, which is 0.8 s at most and half of
// that in the median.
const soon = 200 * time.Millisecond

// wantSoon fails unless half of these spans are short. The others may be long: what came in between is told later.
func wantSoon(t *pace.T, what string, spans []time.Duration) {
	t.Helper()
	t.Margin(soon / 4)
	slices.Sort(spans)
	if median := spans[len(spans)/2]; median > t.Scaled(soon) {
		t.Errorf("%s takes %v in the median", what, median)
	}
}

// Who waits is woken by what it waits for, not by looking now and then.
func testWakeUps(t *testing.T, s Store) {
	pace.Run(t, "hand-offs", func(t *pace.T) { wakeUps(t, s) })
}

func wakeUps(t *pace.T, s Store) {
	clients := []*drivertest.Facade{s.client(t), s.client(t)}
	db := s.admin(t)
	var gaps []time.Duration
	held := request(t, clients[0], mutex(t.Name()), true)
	for i := range 20 {
		next := request(t, clients[1-i%2], mutex(t.Name()), false)
		granted := make(chan time.Time)
		go func() {
			await(t, clients[1-i%2], next)
			granted <- time.Now()
		}()
		eventually(t, "it sleeps in the server", func() bool { return number(t, db, s.Sleeping) == 1 })
		began := time.Now()
		release(t, clients[i%2], held)
		gaps = append(gaps, (<-granted).Sub(began))
		held = next
	}
	wantSoon(t, "a hand-off", gaps)
}

// When a writer ends, all readers behind it are granted: each wakes the next.
func testCascade(t *testing.T, s Store) {
	pace.Run(t, "readers", func(t *pace.T) { cascade(t, s) })
}

func cascade(t *pace.T, s Store) {
	const readers = 10
	t.Margin(soon / 4)
	share := mutex(t.Name())
	share.Limit = driver.All
	holder := s.client(t)
	held := request(t, holder, mutex(t.Name()), true)
	granted := make(chan struct{}, readers)
	for range readers {
		d, c := s.client(t), share
		c.ID = mutex("").ID
		c = request(t, d, c, false)
		go func() {
			await(t, d, c)
			granted <- struct{}{}
		}()
	}
	db := s.admin(t)
	eventually(t, "they sleep in the server", func() bool { return number(t, db, s.Sleeping) == readers })
	began := time.Now()
	release(t, holder, held)
	for range readers {
		<-granted
	}
	if took := time.Since(began); took > t.Scaled(2*soon) {
		t.Errorf("the last of %d readers was granted after %v", readers, took)
	}
}

// A holder whose claim is broken, or who is asked to let go, is told at once; and the one who waited for it goes on.
func testBrokenIsTold(t *testing.T, s Store) {
	holder, other := s.client(t), s.client(t)
	held, next := request(t, holder, mutex(t.Name()), true), request(t, other, mutex(t.Name()), false)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := other.Revoke(ctx, t.Name(), held.ID); err != nil {
		t.Fatal(err)
	}
	isRevoked := func(st driver.Status, err error) bool { return err != nil || st.Revoked }
	if st, err := learns(ctx, holder, held, isRevoked); err != nil || !st.Granted {
		t.Errorf("the holder learns %+v, %v; want that it is revoked", st, err)
	}
	if err := other.Break(ctx, t.Name(), held.ID); err != nil {
		t.Fatal(err)
	}
	isOver := func(_ driver.Status, err error) bool { return err != nil }
	if _, err := learns(ctx, holder, held, isOver); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the holder learns %v, want ErrGone", err)
	}
	await(t, other, next)
}

// learns asks about a claim each time that something is told of it, until it knows.
func learns(
	ctx context.Context, d *drivertest.Facade, c driver.Claim, knows func(driver.Status, error) bool,
) (driver.Status, error) {
	for {
		st, err := d.Wait(ctx, c)
		if err == nil && st == (driver.Status{}) {
			st, err = d.Request(ctx, c)
		}
		if knows(st, err) {
			return st, err
		}
	}
}

// Two go on with one claim. That one of them could not release it ends no news for the other, who hears of a release
// that is answered.
func testReleaseIsTold(t *testing.T, s Store) {
	d, other := s.client(t), s.client(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for what, end := range map[string]func(driver.Claim) error{
		"broken": func(c driver.Claim) error {
			if err := d.Release(over, c); err == nil {
				t.Error("a release whose context is over succeeds")
			}
			return other.Break(t.Context(), c.Name, c.ID)
		},
		"released": func(c driver.Claim) error { return other.Release(t.Context(), c) },
	} {
		held := request(t, d, mutex(t.Name()), true)
		moved := make(chan struct{}, 1)
		stop, err := d.Listen(t.Context(), held, func() {
			select {
			case moved <- struct{}{}:
			default: // there is word already
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := end(held); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		select {
		case <-moved:
		case <-time.After(patience):
			t.Errorf("who holds a claim is not told that it was %s", what)
		}
		stop()
	}
}

// Of two claims of one client the younger is waited for first. The older one, whose Wait comes later, is granted first,
// and learns it as soon.
func testOlderWaitsLater(t *testing.T, s Store) {
	pace.Run(t, "grants", func(t *pace.T) {
		var took []time.Duration
		for range 5 {
			took = append(took, olderWaitsLater(t, s))
		}
		wantSoon(t, "to learn of the grant", took)
	})
}

// olderWaitsLater returns how long the older of two claims takes to learn of its grant.
func olderWaitsLater(t *pace.T, s Store) time.Duration {
	holder, d := s.client(t), s.client(t)
	held := request(t, holder, mutex(t.Name()), true)
	older, younger := request(t, d, mutex(t.Name()), false), request(t, d, mutex(t.Name()), false)
	last := make(chan struct{})
	go func() {
		defer close(last)
		await(t, d, younger)
	}()
	db := s.admin(t)
	eventually(t, "the younger sleeps in the server", func() bool { return number(t, db, s.Sleeping) == 1 })
	first := make(chan struct{})
	go func() {
		defer close(first)
		await(t, d, older)
	}()
	began := time.Now()
	release(t, holder, held)
	<-first
	took := time.Since(began)
	release(t, d, older)
	<-last
	release(t, d, younger)
	return took
}

// A claim that is broken while it waits leaves no wake lock in its client's connection, which has room for some only.
func testBrokenWaiterLeavesNoWakeLock(t *testing.T, s Store) {
	holder, d := s.client(t), s.client(t)
	held, waiting := request(t, holder, mutex(t.Name()), true), request(t, d, mutex(t.Name()), false)
	db := s.admin(t)
	taken := func() bool { return number(t, db, s.WakeLock(waiting.ID, "end")) == 1 }
	if !taken() {
		t.Error("a claim that waits has no wake lock")
	}
	ended := make(chan error, 1)
	go func() {
		_, err := d.Wait(t.Context(), waiting)
		ended <- err
	}()
	eventually(t, "it sleeps in the server", func() bool { return number(t, db, s.Sleeping) == 1 })
	if err := holder.Break(t.Context(), t.Name(), waiting.ID); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, driver.ErrGone) {
		t.Errorf("Wait: %v, want ErrGone", err)
	}
	eventually(t, "its wake lock is released", func() bool { return !taken() })
	release(t, holder, held)
}

// Others wait for the grant of a claim that may share its lock, and for that of no other. It wakes them however often
// the claim was renewed before.
func testWakeLockOfAGrant(t *testing.T, s Store) {
	holder, d := s.client(t), s.client(t)
	db := s.admin(t)
	taken := func(c driver.Claim) bool { return number(t, db, s.WakeLock(c.ID, "wait")) == 1 }
	held := request(t, holder, mutex(t.Name()), true)
	reader := mutex(t.Name())
	reader.Limit = 2
	for range 3 {
		reader = request(t, d, reader, false)
	}
	writer := request(t, d, mutex(t.Name()), false)
	if !taken(reader) || taken(writer) {
		t.Errorf("a reader that waits has a wake lock: %t, a writer: %t", taken(reader), taken(writer))
	}
	release(t, holder, held)
	request(t, d, reader, true)
	eventually(t, "the reader's is released", func() bool { return !taken(reader) })
	release(t, d, reader)
	release(t, d, writer)
}

// A client that has met others takes a wake lock also for a claim that nobody waits for, so that whoever comes can
// sleep on it, and releases it with the claim. One that finds locks free takes none.
func testWakeLockOfOneAlone(t *testing.T, s Store) {
	db, d, other := s.admin(t), s.client(t), s.client(t)
	taken := func(c driver.Claim) bool { return number(t, db, s.WakeLock(c.ID, "end")) == 1 }
	held := request(t, other, mutex(t.Name()+" held"), true)
	defer release(t, other, held)
	try := mutex(held.Name)
	try.Queue = false
	if st, err := d.Request(t.Context(), try); err != nil || st.Granted {
		t.Fatalf("a lock that is held: %+v, %v", st, err)
	}
	c := mutex(t.Name())
	for range 2 { // its row is new, and is there
		c.ID, c.Token = driver.NewID(), 0
		if c = request(t, d, c, true); !taken(c) {
			t.Error("a claim of a client that has met others has no wake lock")
		}
		if release(t, d, c); taken(c) {
			t.Error("a claim that was released has a wake lock")
		}
	}
	findFree(t, d)
	c.ID, c.Token = driver.NextID(c.ID), 0
	if c = request(t, d, c, true); taken(c) {
		t.Error("a claim of a client that finds locks free has a wake lock")
	}
	release(t, d, c)
}

// A claim that is left to its TTL leaves no wake lock with the client that left it, which will not hear of its end. Who
// takes it up has one.
func testDetachedLeavesNoWakeLock(t *testing.T, s Store) {
	db := s.admin(t)
	d, other := s.client(t), s.client(t)
	holder := request(t, d, mutex(t.Name()), true)
	left := request(t, d, mutex(t.Name()), false)
	release(t, d, holder)
	request(t, d, left, true)
	if number(t, db, s.WakeLock(left.ID, "end")) != 1 {
		t.Error("a claim that is held has no wake lock")
	}
	left.Detached = true
	request(t, d, left, true)
	eventually(t, "nobody has its wake lock", func() bool { return number(t, db, s.WakeLock(left.ID, "end")) == 0 })
	eventually(t, "who renews it has", func() bool {
		if _, err := other.Renew(t.Context(), []driver.Claim{left}); err != nil {
			t.Error(err)
		}
		return number(t, db, s.WakeLock(left.ID, "end")) == 1
	})
	release(t, other, left)
	eventually(t, "nobody has it", func() bool { return number(t, db, s.WakeLock(left.ID, "end")) == 0 })

	left = mutex(t.Name())
	left.Detached = true
	left = request(t, d, left, true)
	if number(t, db, s.WakeLock(left.ID, "end")) != 0 {
		t.Error("a claim that is left at once has a wake lock")
	}
	release(t, other, left)
}
