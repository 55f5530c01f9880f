package claimstest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Whatever became of its claims, nothing of a lock stays for ever: claims that nobody asks about, what is remembered of
// claims that ended, tokens of locks that were not used for long.
func testNothingStays(t *testing.T, s Store) {
	db := s.admin(t)
	for i := range 30 {
		d := s.keeping(t, db, time.Microsecond)
		c := mutex(fmt.Sprint(t.Name(), i%10))
		c.TTL = 100 * time.Millisecond
		if _, err := d.Request(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0:
			d.Release(t.Context(), c) // it may have expired
		case 1:
			d.Break(t.Context(), c.Name, c.ID) // it may be the next by now
		}
		d.Close()
	}
	eventually(t, "all rows are swept", func() bool {
		d := s.keeping(t, db, time.Microsecond)
		defer d.Close()
		last := mutex("last") // who wrote sweeps
		d.Request(t.Context(), last)
		d.Release(t.Context(), last)
		left := func(table string) int64 {
			return number(t, db, "SELECT COUNT(*) FROM "+table+" WHERE name LIKE '"+t.Name()+"%'")
		}
		return left("holdfast_claims") == 0 && left("holdfast_ends") == 0 && left("holdfast_locks") == 0
	})
}

// Sweeping takes nothing that is needed: claims that live, and the tokens of locks in use.
func testSweepSpares(t *testing.T, s Store) {
	held := request(t, s.client(t), mutex(t.Name()), true)
	waiting := request(t, s.client(t), mutex(t.Name()), false)
	d := s.opened(t, time.Microsecond)
	gone := request(t, d, mutex(t.Name()+" gone"), true)
	release(t, d, gone)
	d.Close() // which sweeps
	if _, err := s.client(t).Request(t.Context(), gone); err == nil {
		t.Error("a claim that was released is queued again: its end was forgotten too early")
	}
	queue, err := s.client(t).Queue(t.Context(), t.Name())
	if err != nil || len(queue) != 2 || queue[0].ID != held.ID || queue[1].ID != waiting.ID {
		t.Fatalf("the queue is %+v, %v", queue, err)
	}
	if next := request(t, s.client(t), mutex(t.Name()), false); next.Token <= waiting.Token {
		t.Errorf("token %d after %d", next.Token, waiting.Token)
	}
}

// Reap forgets all ends that nobody needs any more, however many they are.
func testReapedEnds(t *testing.T, s Store) {
	db := s.admin(t)
	s.pileEnds(t, db, 1000)
	if _, err := driver.Reap(t.Context(), s.client(t), time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := endsLeft(t, db); n > 0 {
		t.Errorf("%d ends are left", n)
	}
}

// Ends are forgotten as fast as a busy server notes them: each client that sweeps takes thousands of them.
func testManyEnds(t *testing.T, s Store) {
	db := s.admin(t)
	s.pileEnds(t, db, 20_000)
	eventually(t, "all ends are forgotten", func() bool {
		d := s.client(t)
		release(t, d, request(t, d, mutex(t.Name()), true))
		d.Close() // which sweeps, where it is time for that
		return endsLeft(t, db) == 0
	})
}

// Names are forgotten as fast as they are made. Who makes a name leaves an end, and sweeping looks at four names for
// each end that it forgets. Where none are forgotten, it takes its time.
func testNamesKeepPace(t *testing.T, s Store) {
	const ends, names, step = 6_000, 18_000, 500
	db := s.migrated(t).admin(t)
	left := func() int64 {
		return number(t, db, "SELECT COUNT(*) FROM holdfast_locks WHERE name LIKE 'unused %'")
	}
	change(t, db, s.Names("unused ", names))
	defer change(t, db, "DELETE FROM holdfast_locks WHERE name LIKE 'unused %'")
	change(t, db, "UPDATE holdfast_sweep SET locks = '', claims = ''")
	turns := int64(0)
	eventually(t, "some names are forgotten", func() bool {
		turns++
		s.sweepNow(t, db)
		return left() < names
	})
	if gone := names - left(); gone > turns*step {
		t.Errorf("where nothing ends, %d names were forgotten in %d turns, want at most %d in each", gone, turns, step)
	}

	s.pileEnds(t, db, ends)
	eventually(t, "all ends are forgotten", func() bool {
		s.sweepNow(t, db)
		return endsLeft(t, db) == 0
	})
	if n := left(); n > names/100 { // a few that somebody had locked come when sweeping passes them again
		t.Errorf("%d ends are forgotten, but %d of %d names are left", ends, n, names)
	}
}

// Each turn goes on where the last one stopped, whichever client had it: also behind thousands of names that stay.
func testSweepingGoesOn(t *testing.T, s Store) {
	db := s.admin(t)
	changeAll(t, db, []string{s.Names("kept ", 1200), s.Names("unused ", 1),
		"UPDATE holdfast_locks SET token = 1 WHERE name = 'unused 0'",
		"UPDATE holdfast_sweep SET locks = '', claims = ''"})
	defer change(t, db, "DELETE FROM holdfast_locks WHERE name LIKE 'kept %'")
	eventually(t, "the name behind them is forgotten", func() bool {
		s.sweepTurn(t, db, time.Hour)
		return number(t, db, "SELECT COUNT(*) FROM holdfast_locks WHERE name = 'unused 0'") == 0
	})
	if n := number(t, db, "SELECT COUNT(*) FROM holdfast_locks WHERE name LIKE 'kept %'"); n != 1200 {
		t.Errorf("%d of 1200 names that were used within the hour are left", n)
	}
}

// Names that are forgotten while others begin to use them, by several at once, who give up at any moment: one holds at
// a time, and tokens grow.
func testForgottenInUse(t *testing.T, s Store) {
	const workers, cycles, names = 4, 150, 3
	s.migrated(t)
	var holders [names]atomic.Int32
	var last [names]uint64 // for who holds
	cycle := func(d *drivertest.Facade, i int) error {
		c := tryOnly(mutex(fmt.Sprint(t.Name(), i)))
		st, err := d.Request(t.Context(), c)
		if err != nil || !st.Granted {
			return err
		}
		if n := holders[i].Add(1); n > 1 || st.Token <= last[i] {
			t.Errorf("%d hold lock %d, with token %d after %d", n, i, st.Token, last[i])
		}
		last[i] = st.Token
		holders[i].Add(-1)
		c.Token = st.Token
		return d.Release(t.Context(), c)
	}
	reaping, stop := context.WithCancel(t.Context())
	var working, sweeping sync.WaitGroup
	for range 2 {
		d := s.client(t)
		sweeping.Go(func() {
			for reaping.Err() == nil {
				ctx, cancel := context.WithTimeout(reaping, rand.N(10*time.Millisecond))
				if _, err := driver.Reap(ctx, d, time.Microsecond); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	for range workers {
		d := s.client(t)
		working.Go(func() {
			for i := range cycles {
				if err := cycle(d, i%names); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	stop()
	sweeping.Wait()
}

// sweepNow lets a client sweep for a turn, for which every name is old.
func (s Store) sweepNow(t *testing.T, db *sql.DB) {
	t.Helper()
	s.sweepTurn(t, db, time.Microsecond)
}

// sweepTurn lets a client sweep for a turn, for which a name is old that was not used for so long.
func (s Store) sweepTurn(t *testing.T, db *sql.DB, keep time.Duration) {
	t.Helper()
	d := s.opened(t, keep)
	release(t, d, request(t, d, mutex(t.Name()), true))
	change(t, db, "UPDATE holdfast_sweep SET next = 0")
	d.Close() // which sweeps
}

// pileEnds notes so many ends that can be forgotten.
func (s Store) pileEnds(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	change(t, db, s.Names("ended ", n))
	change(t, db, "INSERT INTO holdfast_ends (name, id, token, released, deadline)"+
		" SELECT name, 'gone', token, 1 = 1, token FROM holdfast_locks WHERE name LIKE 'ended %'")
	change(t, db, "DELETE FROM holdfast_locks WHERE name LIKE 'ended %'")
}

func endsLeft(t *testing.T, db *sql.DB) int64 {
	t.Helper()
	return number(t, db, "SELECT COUNT(*) FROM holdfast_ends WHERE id = 'gone'")
}

// opened opens a client that keeps tokens for so long, on a database of its own.
func (s Store) opened(t *testing.T, keep time.Duration) *drivertest.Facade {
	t.Helper()
	return s.keeping(t, s.admin(t), keep)
}

// keeping is the same on a database that the test has opened.
func (s Store) keeping(t *testing.T, db *sql.DB, keep time.Duration) *drivertest.Facade {
	t.Helper()
	d, err := drivertest.Wrap(sqllock.New(context.Background(), db, s.Dialect, &sqllock.Options{Keep: keep}))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Reap removes what is left at once, tells what it was, and spares what is in use.
func testReap(t *testing.T, s Store) {
	d := s.client(t)
	held := request(t, d, mutex(t.Name()+" held"), true)
	dead := mutex(t.Name() + " dead")
	dead.TTL = 100 * time.Millisecond
	request(t, d, dead, true)
	used := mutex(t.Name() + " used")
	release(t, d, request(t, d, used, true))
	gone, left := mutex(t.Name()+" left"), mutex(t.Name()+" left")
	left.TTL = 2 * time.Second // long enough for the release of the one before it
	gone = request(t, d, gone, true)
	request(t, d, left, false)
	release(t, d, gone) // only noted, because one is queued behind it, who never asks again
	const outlived = "UPDATE holdfast_claims SET deadline = 1 WHERE name = '%s' AND id = '%s'"
	change(t, s.admin(t), fmt.Sprintf(outlived, gone.Name, gone.ID))
	var removed []driver.Leftover
	eventually(t, "the leftovers are removed", func() bool {
		some, err := driver.Reap(t.Context(), d, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range some {
			if strings.HasPrefix(one.Name, t.Name()) { // the others are of other tests
				removed = append(removed, one)
			}
		}
		return len(removed) >= 5
	})
	slices.SortFunc(removed, func(a, b driver.Leftover) int { return strings.Compare(a.Kind+a.Name, b.Kind+b.Name) })
	want := []driver.Leftover{
		{Kind: "expired claim", Name: dead.Name}, {Kind: "expired claim", Name: left.Name},
		{Kind: "last token", Name: dead.Name}, {Kind: "last token", Name: left.Name},
		{Kind: "last token", Name: used.Name},
	}
	if !slices.Equal(removed, want) {
		t.Errorf("removed: %+v, want %+v", removed, want)
	}
	release(t, d, held)
}
