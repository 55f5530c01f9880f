package claimstest

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// However long claims wait, and however many give up, the server has nothing to log.
func testLogStaysQuiet(t *testing.T, s Store) {
	const givingUp = 8
	db := s.admin(t)
	changeAll(t, db, s.Wordy)
	holder, waiter := s.client(t), s.client(t)
	held := request(t, holder, mutex(t.Name()), true)
	next := request(t, waiter, mutex(t.Name()), false)
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
			driver.Wait(ctx, d, c)
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
