package claimstest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
)

// spell is how long a crowd is at work: longer in a soak.
func spell() time.Duration { return effort.Pick(2*time.Second, 20*time.Second) }

const crowdSize = 8

// Clients that take one lock again and again, with waiting and without, see no error, not even deadlocks that are
// repeated, and never take a lock that is free for one that is taken.
func testCrowd(t *testing.T, s Store) {
	var held ledger
	var taken atomic.Int64
	db := s.admin(t)
	before := number(t, db, s.Deadlocks)
	ctx, cancel := context.WithTimeout(t.Context(), spell())
	defer cancel()
	var crowd sync.WaitGroup
	for range crowdSize {
		d := s.client(t)
		crowd.Go(func() {
			for ctx.Err() == nil {
				c := mutex(t.Name())
				c.Queue = rand.N(4) > 0
				st, err := d.Request(t.Context(), c)
				for err == nil && c.Queue && !st.Granted {
					st, err = d.Wait(t.Context(), c)
				}
				switch {
				case err != nil:
					t.Errorf("Request: %v", err)
					return
				case st.Granted:
					held.enter(t, st.Token)
					held.leave()
					taken.Add(1)
				case held.isIdle():
					continue // it was free a moment later
				}
				if err := d.Release(t.Context(), c); c.Queue && err != nil {
					t.Errorf("Release: %v", err)
					return
				}
			}
		})
	}
	crowd.Wait()
	if taken.Load() < crowdSize {
		t.Errorf("the lock was held %d times", taken.Load())
	}
	if n := number(t, db, s.Deadlocks) - before; n > 0 {
		t.Errorf("the server ended %d requests that waited for each other", n)
	}
	alone := s.client(t)
	for range 100 { // nobody else is there, so it is never taken
		c := mutex(t.Name())
		c.Queue = false
		release(t, alone, request(t, alone, c, true))
	}
}

// A ledger is written by who holds a lock.
type ledger struct {
	inside atomic.Int64
	last   atomic.Uint64
}

func (l *ledger) enter(t testing.TB, token uint64) {
	if l.inside.Add(1) > 1 {
		t.Error("two hold the lock")
	}
	if last := l.last.Swap(token); last >= token {
		t.Errorf("token %d after %d", token, last)
	}
}

func (l *ledger) leave()       { l.inside.Add(-1) }
func (l *ledger) isIdle() bool { return l.inside.Load() == 0 }

// The server crashes and comes back while clients take a lock: nobody holds it together with another,
// and the work goes on.
func testRestart(t *testing.T, s Store) {
	var held ledger
	var done atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var crowd sync.WaitGroup
	for range crowdSize {
		client := holdfast.New(s.client(t))
		defer client.Close(context.Background())
		m := client.Mutex(t.Name(), holdfast.WithTTL(5*time.Second))
		crowd.Go(func() {
			for ctx.Err() == nil {
				err := m.Do(ctx, func(ctx context.Context, l *holdfast.Lease) error {
					held.enter(t, l.Token())
					defer held.leave()
					driver.Sleep(ctx, time.Millisecond)
					done.Add(1)
					return nil
				})
				expected := errors.Is(err, holdfast.ErrUnknown) || errors.Is(err, holdfast.ErrLost)
				if err != nil && ctx.Err() == nil && !expected {
					t.Errorf("Do: %v", err)
				}
			}
		})
	}
	for range 2 {
		was := done.Load()
		eventually(t, "the lock is held often", func() bool { return done.Load() > was+20 })
		s.Kill(t)
		s.Restart(t)
	}
	was := done.Load()
	eventually(t, "the work goes on", func() bool { return done.Load() > was+20 })
	cancel()
	crowd.Wait()
}
