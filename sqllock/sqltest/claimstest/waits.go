package claimstest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// A client that waits for hundreds of locks at once does so on a few connections, and learns soon which it was granted,
// also when a holder has expired without a word.
func testManyWaits(t *testing.T, s Store) {
	const locks, forRequests, forWaiting, others = 500, 4, 8, 4
	db := s.admin(t)
	holder, d := s.client(t), s.client(t)
	dying := request(t, holder, mutex(t.Name()+" dying"), true)
	w := waitFor(t, holder, d, locks)
	last := request(t, d, mutex(dying.Name), false)
	dying.TTL = 3 * time.Second // from now on, however long the others took
	request(t, holder, dying, true)
	expired := make(chan struct{})
	go func() {
		defer close(expired)
		await(t, d, last)
	}()

	eventually(t, "the sleepers are taken", func() bool { return number(t, db, s.Sleeping) >= forWaiting })
	for range 10 {
		if n := number(t, db, s.Sessions); n > 2*(forRequests+others)+forWaiting {
			t.Errorf("%d connections of two clients, of which one waits for %d locks", n, locks)
		}
		driver.Sleep(t.Context(), 10*time.Millisecond)
	}
	<-expired
	released := 0
	pace.Run(t, "hand-offs", func(t *pace.T) {
		var gaps []time.Duration
		for range 40 {
			began := time.Now()
			release(t, holder, w.held[released])
			<-w.granted[released]
			gaps = append(gaps, time.Since(began))
			released++
		}
		slices.Sort(gaps)
		if median := gaps[len(gaps)/2]; median > t.Scaled(time.Second) {
			t.Errorf("a hand-off takes %v in the median", median)
		}
	})
	for _, c := range w.held[released:] {
		release(t, holder, c)
	}
	w.all.Wait()
	eventually(t, "the connections are closed", func() bool { return number(t, db, s.Sleeping) == 0 })
}

// Waits are claims of one client that wait for locks which another one holds.
type waits struct {
	held    []driver.Claim
	granted []chan struct{}
	all     sync.WaitGroup
}

// waitFor lets d wait for locks that holder takes.
func waitFor(t *testing.T, holder, d *drivertest.Facade, locks int) *waits {
	t.Helper()
	w := &waits{}
	for i := range locks {
		w.held = append(w.held, request(t, holder, mutex(fmt.Sprint(t.Name(), i)), true))
		c := request(t, d, mutex(fmt.Sprint(t.Name(), i)), false)
		granted := make(chan struct{})
		w.granted = append(w.granted, granted)
		w.all.Go(func() {
			func() {
				defer close(granted) // also when it fails, so that nobody waits for what will not come
				await(t, d, c)
			}()
			if err := d.Release(context.Background(), c); err != nil {
				t.Error(err)
			}
		})
	}
	return w
}

// A claim that is deleted by hand is no news for anybody: who waits for its place learns of it all the same, also among
// more locks than the server is slept in for.
func testDeletedByHand(t *testing.T, s Store) {
	const locks = 8
	db := s.admin(t)
	holder, d := s.client(t), s.client(t)
	w := waitFor(t, holder, d, locks)
	eventually(t, "the sleepers are taken", func() bool { return number(t, db, s.Sleeping) >= locks })
	slot := func() driver.Claim {
		c := mutex(t.Name() + " slots")
		c.Limit = 2
		return c
	}
	gone, left := request(t, holder, slot(), true), request(t, holder, slot(), true)
	next := request(t, d, slot(), false)
	granted := make(chan struct{})
	go func() {
		defer close(granted)
		await(t, d, next)
	}()
	change(t, db, "DELETE FROM holdfast_claims WHERE id = '"+gone.ID+"'")
	<-granted
	release(t, d, next)
	release(t, holder, left)
	for _, c := range w.held {
		release(t, holder, c)
	}
	w.all.Wait()
}

// Where no single claim decides when another is granted, the server looks now and then, and sleeps in between.
func testWaitSleeps(t *testing.T, s Store) {
	const looksPerSecond, rowsPerLook = 50, 20
	db, holder, d := s.admin(t), s.client(t), s.client(t)
	slot := func() driver.Claim {
		c := mutex(t.Name())
		c.Limit = 2
		return c
	}
	held := []driver.Claim{request(t, holder, slot(), true), request(t, holder, slot(), true)}
	next := request(t, d, slot(), false)
	for _, table := range []string{"holdfast_claims", "holdfast_locks"} { // a client that is closed reads them
		change(t, db, "DELETE FROM "+table+" WHERE name NOT LIKE '"+t.Name()+"%'")
	}
	before, began := s.RowsRead(t, db), time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if st, err := d.Wait(ctx, next); st.Granted || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %+v, %v", st, err)
	}
	for _, c := range append(held, next) { // whose wait in the server ends with it
		release(t, holder, c)
	}
	d.Close() // the server counts what a session has read when that is over
	holder.Close()
	eventually(t, "the sessions have ended", func() bool { return number(t, db, s.Sessions) == 0 })
	most := int64((time.Since(began).Seconds() + 1) * looksPerSecond * rowsPerLook)
	if read := s.RowsRead(t, db) - before; read > most {
		t.Errorf("it read %d rows in %v, want at most %d", read, time.Since(began), most)
	}
}

// However many locks are waited for on a pool of the caller's that is bounded, half of it is left to the caller.
func testRoomInThePool(t *testing.T, s Store) {
	for _, most := range []int{1, 2, 5, 10} {
		db := s.admin(t)
		db.SetMaxOpenConns(most)
		holder, d := s.client(t), s.open(t, db)
		w := waitFor(t, holder, d, 30)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var own []*sql.Conn
		for range most / 2 {
			c, err := db.Conn(ctx)
			if err != nil {
				t.Fatalf("of %d connections: %v", most, err)
			}
			own = append(own, c)
		}
		d.Renew(ctx, []driver.Claim{w.held[0]}) // it needs no more room either
		for _, c := range w.held {
			release(t, holder, c)
		}
		w.all.Wait()
		for _, c := range own {
			c.Close()
		}
	}
}
