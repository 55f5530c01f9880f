package claimstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// statements counts what clients send: the SQL drivers write each statement at once, and wait for the answer.
func statements() proxy.Counter { return func([]byte) int { return 1 } }

// Once the statements are prepared, a lock that nobody else wants is taken in one round trip and given back in one, and
// any number of claims is renewed in one.
func testRoundTrips(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d := Unfollow(s.clientAt(t, p.Addr))
	renew := func(claims ...driver.Claim) {
		t.Helper()
		for _, r := range d.Renew(t.Context(), claims) {
			if r.Err != nil || !r.Status.Granted {
				t.Fatalf("a renewal: %+v", r)
			}
		}
	}
	warm := request(t, d, mutex(t.Name()), true)
	renew(warm)
	release(t, d, warm)

	const locks = 50
	var claims []driver.Claim
	p.Count(statements)
	for i := range locks {
		claims = append(claims, request(t, d, mutex(fmt.Sprint(t.Name(), i)), true))
	}
	renew(claims...)
	for _, c := range claims {
		release(t, d, c)
	}
	if got, want := p.Counted(), 2*locks+1; got != want {
		t.Errorf("%d statements, want %d", got, want)
	}
}

// However many wait, a hand-off takes a few statements. If all who wait took part in each, it would take 32 more with
// 64 of them. A busy machine adds some that are sent for a long wait.
func testHandOffs(t *testing.T, s Store) {
	few, many := s.perHandOff(t, 1), s.perHandOff(t, 64)
	if many > few+8 {
		t.Errorf("%.2f statements for each hand-off with one waiter, %.2f with 64", few, many)
	}
}

// perWait is how long a client waits in one statement at most: see docs/sql.md.
const perWait = 800 * time.Millisecond

// perHandOff lets clients wait in a line, and counts the statements until each has had the lock, but for those that a
// client sends because it has waited for long.
func (s Store) perHandOff(t *testing.T, waiters int) float64 {
	t.Helper()
	p := proxy.New(t, s.Addr)
	name := fmt.Sprint(t.Name(), waiters)
	holder := s.clientAt(t, p.Addr)
	held := request(t, holder, mutex(name), true)
	var line sync.WaitGroup
	granted := make(chan time.Time, waiters)
	for range waiters {
		d := s.clientAt(t, p.Addr)
		release(t, d, request(t, d, mutex(held.ID), true)) // the statements are prepared
		next := request(t, d, mutex(name), false)
		line.Go(func() {
			await(t, d, next)
			granted <- time.Now()
			if err := d.Release(context.Background(), next); err != nil {
				t.Error(err)
			}
		})
	}
	db := s.admin(t)
	eventually(t, "all sleep in the server", func() bool { return number(t, db, s.Sleeping) == int64(waiters) })
	p.Count(statements)
	began := time.Now()
	release(t, holder, held)
	line.Wait()
	statements := float64(p.Counted())
	close(granted)
	for at := range granted {
		statements -= at.Sub(began).Seconds() / perWait.Seconds()
	}
	return statements / float64(waiters)
}

// A client keeps one connection, one more for each lock that it waits for, as long as it does, and one while it sweeps.
func testConnections(t *testing.T, s Store) {
	db := s.admin(t)
	holder, d := s.client(t), s.client(t)
	const locks = 5
	var held []driver.Claim
	var waiting sync.WaitGroup
	for i := range locks {
		held = append(held, request(t, holder, mutex(fmt.Sprint(t.Name(), i)), true))
		for range 3 {
			c := request(t, d, mutex(fmt.Sprint(t.Name(), i)), false)
			waiting.Go(func() {
				await(t, d, c)
				if err := d.Release(context.Background(), c); err != nil {
					t.Error(err)
				}
			})
		}
	}
	const most = 2 + locks + 2
	eventually(t, "all are waited for", func() bool { return number(t, db, s.Sleeping) == locks })
	for range 20 {
		if n := number(t, db, s.Sessions); n > most {
			t.Errorf("%d connections, want %d", n, most)
		}
		driver.Sleep(t.Context(), 10*time.Millisecond)
	}
	for _, c := range held {
		release(t, holder, c)
	}
	waiting.Wait()
	eventually(t, "the connections are closed", func() bool { return number(t, db, s.Sessions) == 2 })
}

// Where the caller's pool has no connection to wait on, waiting works nevertheless.
func testFewConnections(t *testing.T, s Store) {
	db := s.admin(t)
	db.SetMaxOpenConns(1)
	holder, d := s.client(t), s.open(t, db)
	held, next := request(t, holder, mutex(t.Name()), true), request(t, d, mutex(t.Name()), false)
	granted := make(chan driver.Status)
	go func() { granted <- await(t, d, next) }()
	release(t, holder, held)
	<-granted
}
