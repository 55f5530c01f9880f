package claimstest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// Sweeping reads large tables in small steps: no statement keeps the server busy for as long as there are names.
func testManyNames(t *testing.T, s Store) {
	const names, most = 100_000, 4_000
	db := s.migrated(t).admin(t)
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	change(t, db, s.Names("many ", names))
	defer changeAll(t, db, []string{"DELETE FROM holdfast_locks WHERE released = 0"})

	before := s.RowsRead(t, db)
	p.Count(statements)
	if _, err := driver.Reap(t.Context(), d, time.Hour); err != nil {
		t.Fatal(err)
	}
	asked := int64(p.Counted())
	if asked == 0 {
		t.Fatal("nothing was asked")
	}
	read := int64(0)
	eventually(t, "the server counts what it has read", func() bool {
		read = s.RowsRead(t, db) - before
		return read >= names
	})
	if read/asked > most {
		t.Errorf("%d statements read %d rows among %d names, want at most %d rows each", asked, read, names, most)
	}
}

// Listing reads large tables in pages, and nothing of the locks whose names begin otherwise.
func testManyListed(t *testing.T, s Store) {
	const locks, most, again = 5_000, 4_000, 20
	db := s.migrated(t).admin(t)
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	change(t, db, s.Names("many ", locks))
	change(t, db, "INSERT INTO holdfast_claims"+
		" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)"+
		" SELECT name, 'held', token, 1, 1, 3600000000, token + 3600000000, token, 1 = 1, 1 = 0, '', ''"+
		" FROM holdfast_locks WHERE name LIKE 'many %'")
	change(t, db, "UPDATE holdfast_locks SET queued = TRUE WHERE name LIKE 'many %'")
	defer changeAll(t, db, []string{"DELETE FROM holdfast_claims WHERE id = 'held'",
		"DELETE FROM holdfast_locks WHERE name LIKE 'many %'"})

	lists := func(prefix string, want int) {
		found := make(map[string]bool)
		for name, err := range driver.List(t.Context(), d, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			found[name] = true
		}
		if len(found) != want {
			t.Errorf("with the prefix %q there are %d locks, want %d", prefix, len(found), want)
		}
	}
	// readBy is how many rows many lists read, of which the server has counted at least so many. What was read before
	// may be counted late, and is little beside that.
	readBy := func(least int64, prefix string, want int) (read int64) {
		before := s.RowsRead(t, db)
		for range again {
			lists(prefix, want)
		}
		eventually(t, "the server counts what it has read", func() bool {
			read = s.RowsRead(t, db) - before
			return read >= least
		})
		return read
	}
	lists("none", 0) // the connections are there

	if read := readBy(again, "many 12", 111); read > again*locks {
		t.Errorf("%d lists of 111 locks read %d rows", again, read)
	}
	p.Count(statements)
	read := readBy(again*locks, "many ", locks)
	if asked := int64(p.Counted()); asked < again*locks/most || read/max(asked, 1) > most {
		t.Errorf("%d statements read %d rows to list %d locks, want at most %d rows each", asked, read, locks, most)
	}
}

// A long queue is read in pages, whether or not its claims live, and is in order. Its first claims are found without
// the rest.
func testManyQueued(t *testing.T, s Store) {
	const claims, released, most, again = 5_000, 10, 4_000, 10
	db := s.migrated(t).admin(t)
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	name := t.Name()
	change(t, db, fmt.Sprintf("INSERT INTO holdfast_locks (name, token, released, queued) VALUES ('%s', %d, %d, TRUE)",
		name, claims, released))
	change(t, db, s.Queue(name, claims))
	change(t, db, "UPDATE holdfast_claims SET deadline = 1 WHERE token > 500 AND token <= 3500")
	defer changeAll(t, db, []string{"DELETE FROM holdfast_claims WHERE name = '" + name + "'",
		"DELETE FROM holdfast_locks WHERE name = '" + name + "'"})
	var want []uint64
	for token := uint64(released + 1); token <= claims; token++ {
		if token <= 500 || token > 3500 {
			want = append(want, token)
		}
	}

	reads := func() {
		queue, err := d.Queue(t.Context(), name)
		inOrder(t, queue, err, want)
	}
	reads() // the connections are there
	before := s.RowsRead(t, db)
	p.Count(statements)
	for range again {
		reads()
	}
	asked, read := int64(p.Counted()), int64(0)
	eventually(t, "the server counts what it has read", func() bool {
		read = s.RowsRead(t, db) - before
		return read >= again*claims*9/10 // the first row of a page is found, not read on to
	})
	if read/max(asked, 1) > most {
		t.Errorf("%d statements read %d rows of a queue of %d, want at most %d rows each", asked, read, claims, most)
	}

	for _, n := range []int{1, 2, 700} { // of 700 the last are behind those that died
		queue, err := d.Peek(t.Context(), name, n)
		inOrder(t, queue, err, want[:n])
	}
	before = s.RowsRead(t, db)
	for range again {
		if _, err := d.Peek(t.Context(), name, 1); err != nil {
			t.Fatal(err)
		}
	}
	reads() // the server has counted what came before, too
	eventually(t, "the server counts what it has read", func() bool {
		read = s.RowsRead(t, db) - before
		return read >= claims*9/10
	})
	if read > again*claims/2 {
		t.Errorf("the head of a queue of %d was read %d times, and then all of it: %d rows", claims, again, read)
	}
}

// inOrder fails the test unless a queue has claims with these tokens, of which the first is granted.
func inOrder(t *testing.T, queue []driver.Entry, err error, want []uint64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var tokens []uint64
	for i, e := range queue {
		tokens = append(tokens, e.Token)
		if e.Granted != (i == 0) || e.Left <= 0 {
			t.Fatalf("claim %d of the queue is %+v", i, e)
		}
	}
	if !slices.Equal(tokens, want) {
		t.Fatalf("there are %d claims in the queue, want %d: %v", len(tokens), len(want), tokens)
	}
}

// What sweeping waits for, a request does not.
func testSweepingWaitsAlone(t *testing.T, s Store) {
	db, d := s.admin(t), s.clientWith(t, "connections=1")
	dead := mutex(t.Name() + " dead")
	dead.TTL = 100 * time.Millisecond
	request(t, d, dead, true)
	changeAll(t, db, s.Rival.Prepare)
	driver.Sleep(t.Context(), 2*dead.TTL)
	tx := s.rival(t, db)
	defer tx.Rollback()
	execute(t, tx, fmt.Sprintf("SELECT token FROM holdfast_locks WHERE name = '%s' FOR UPDATE", dead.Name))
	answer := s.ask(t, db, func(ctx context.Context) error {
		_, err := driver.Reap(ctx, d, time.Hour)
		return err
	})
	c := mutex(t.Name())
	release(t, d, request(t, d, c, true))
	finish(t, tx, "Reap", answer)
}

// A soak: beside millions of names, cycles take little longer than in an empty table for as long as a client lives,
// which sweeps several times. The empty table is measured before and after, because the machine may be busier at one
// time.
func testManyNamesSoak(t *testing.T, s Store) {
	const names, parts = 5_000_000, 5
	db := s.migrated(t).admin(t)
	d := s.client(t)
	before := cycles(t, d)
	for i := range parts {
		change(t, db, s.Names(fmt.Sprint("many ", i, " "), names/parts))
	}
	changeAll(t, db, s.Analyze)
	read := s.RowsRead(t, db)
	beside := cycles(t, d)
	read = s.RowsRead(t, db) - read
	changeAll(t, db, []string{"DELETE FROM holdfast_locks WHERE name LIKE 'many %'"})
	changeAll(t, db, s.Analyze)
	after := cycles(t, d)
	t.Logf("p99 of a cycle: %v in an empty table, %v beside %d names, of which sweeping has read %d, "+
		"%v when they are gone", before, beside, names, read, after)
	s.empty(t)
}

// cycles is how long 99 of 100 cycles take at most, in two minutes.
func cycles(t *testing.T, d *drivertest.Facade) time.Duration {
	t.Helper()
	var took []time.Duration
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		began := time.Now()
		release(t, d, request(t, d, tryOnly(mutex(t.Name())), true))
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
