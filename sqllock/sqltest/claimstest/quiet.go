package claimstest

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// However long claims wait, and however many give up, the server has nothing to log.
func testLogStaysQuiet(t *testing.T, s Store) {
	const givingUp = 8
	db := s.admin(t)
	changeAll(t, db, s.Wordy)
	holder, waiter := s.client(t), s.client(t)
	held := request(t, holder, mutex(t.Name()), true)
	next := request(t, waiter, mutex(t.Name()), false)
	held = request(t, holder, held, true) // now it has a wake lock, on which the next one sleeps
	noise := regexp.MustCompile(s.Noise)
	before := len(noise.FindAllString(s.Log(t), -1))
	var all sync.WaitGroup
	all.Go(func() { await(t, waiter, next) })
	for i := range givingUp {
		d := s.client(t)
		name := fmt.Sprint(t.Name(), i)
		request(t, holder, mutex(name), true)
		c := request(t, d, mutex(name), false)
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			d.Wait(ctx, c)
			release(t, d, c)
		})
	}
	eventually(t, "all have begun", func() bool { return number(t, db, s.Sleeping) > 0 })
	eventually(t, "only one is left", func() bool { return number(t, db, s.Sleeping) == 1 })
	driver.Sleep(t.Context(), 2*time.Second) // more than after which a server speaks of it
	release(t, holder, held)
	all.Wait()
	if lines := noise.FindAllString(s.Log(t), -1); len(lines) > before {
		t.Errorf("the server has logged %d lines, like %q", len(lines)-before, lines[before])
	}
}

// While locks are held, waited for and handed over, no statement takes a second, so that a log of slow statements has
// none of ours.
func testNothingIsSlow(t *testing.T, s Store) {
	db := s.admin(t)
	changeAll(t, db, s.Slow.Begin)
	defer changeAll(t, db, s.Slow.End)
	pace.Run(t, "for a while", func(t *pace.T) {
		t.Margin(100 * time.Millisecond) // a sleep lasts for 0.8 s
		holder, waiter := s.client(t), s.client(t)
		before := len(s.Slow.Statements(t, s, db))
		held := request(t, holder, mutex(t.Name()), true)
		next := request(t, waiter, mutex(t.Name()), false)
		slot := func() driver.Claim {
			c := mutex(t.Name() + " slots")
			c.Limit = 2
			return c
		}
		slots := []driver.Claim{request(t, holder, slot(), true), request(t, holder, slot(), true)}
		last := request(t, waiter, slot(), false)
		var all sync.WaitGroup
		for _, c := range []driver.Claim{next, last} {
			all.Go(func() { await(t, waiter, c) })
		}
		driver.Sleep(t.Context(), t.Scaled(3*time.Second)) // as long as holders work
		for _, c := range append(slots, held) {
			release(t, holder, c)
		}
		all.Wait()
		if slow := s.Slow.Statements(t, s, db)[before:]; len(slow) > 0 {
			t.Errorf("%d statements were slow, like %q", len(slow), slow[0])
		}
		for _, c := range []driver.Claim{next, last} {
			release(t, waiter, c)
		}
	})
}

// Slow is how a server logs statements that take a second.
type Slow struct {
	Begin, End []string                                  // statements
	Statements func(testing.TB, Store, *sql.DB) []string // those of ours that it has logged
}
