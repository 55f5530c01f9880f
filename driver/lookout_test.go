package driver_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A sightseer looks at queues, each of which has a digest, and counts its looks.
type sightseer struct {
	driver.Lookout
	mu      sync.Mutex
	looks   int
	digests map[string]driver.Digest
	err     error
}

func (s *sightseer) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// change gives a queue another digest.
func (s *sightseer) change(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.digests[name]
	d[2]++
	s.digests[name] = d
}

// fail has all looks fail from now on, or none.
func (s *sightseer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// pause is how long a sightseer rests after a look.
const pause = time.Second

func newSightseer() *sightseer {
	s := &sightseer{digests: make(map[string]driver.Digest)}
	s.Pace = driver.Backoff{First: pause, Most: pause, Draw: func(d time.Duration) time.Duration { return d }}
	s.Digests = func(ctx context.Context, names []string) ([]driver.Digest, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looks++
		digests := make([]driver.Digest, len(names))
		for i, name := range names {
			digests[i] = s.digests[name]
		}
		return digests, s.err
	}
	return s
}

// A told is what is known of a watch.
type told struct {
	began, ended bool
	err          error
}

// watch watches a queue in the background. What it returns tells what is known.
func (s *sightseer) watch(ctx context.Context, name string) func() told {
	var mu sync.Mutex
	var known told
	note := func(change func()) {
		mu.Lock()
		defer mu.Unlock()
		change()
	}
	go func() {
		err := s.Changed(ctx, name, func() { note(func() { known.began = true }) })
		note(func() { known.ended, known.err = true, err })
	}()
	return func() (now told) {
		note(func() { now = known })
		return now
	}
}

// However many queues are watched, they are looked at in one step in each pause, also when the call has ended that
// looked for the others; and when there are none any more, nothing looks.
func TestLookoutLooksOnceInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSightseer()
		ctx, cancel := context.WithCancel(t.Context())
		var watches []func() told
		for i := range 100 {
			watches = append(watches, s.watch(ctx, fmt.Sprint(i)))
			synctest.Wait()
			if !watches[i]().began {
				t.Fatalf("the watch of queue %d has not begun", i)
			}
		}
		for i, w := range watches[:90] { // the first looks for all others
			before := s.looked()
			s.change(fmt.Sprint(i))
			time.Sleep(pause + 1)
			synctest.Wait()
			if w, next := w(), watches[i+1](); !w.ended || w.err != nil || next.ended {
				t.Fatalf("queue %d has changed: %+v, and the next: %+v", i, w, next)
			}
			if looks := s.looked() - before; looks > 1 {
				t.Fatalf("%d looks in a pause", looks)
			}
		}
		cancel()
		synctest.Wait()
		before := s.looked()
		time.Sleep(10 * pause)
		if looks := s.looked() - before; looks > 0 {
			t.Errorf("%d looks while nobody watches", looks)
		}
	})
}

// The call that looks for the others may be given up while it reads: then another one reads for them.
func TestLookoutGoesOnWhenOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSightseer()
		look := s.Digests
		hasty, cancel := context.WithCancel(t.Context())
		s.Digests = func(ctx context.Context, names []string) ([]driver.Digest, error) {
			if hasty.Err() == nil {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return look(ctx, names)
		}
		first := s.watch(hasty, "m")
		synctest.Wait()
		second := s.watch(t.Context(), "m")
		synctest.Wait()
		cancel()
		synctest.Wait()
		if first, second := first(), second(); !errors.Is(first.err, context.Canceled) || first.began || !second.began {
			t.Errorf("the one that gave up: %+v, the other: %+v", first, second)
		}
		s.Told("m")
	})
}

// An error ends all watches that wanted to know, and later ones begin anew.
func TestLookoutFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSightseer()
		a, b := s.watch(t.Context(), "a"), s.watch(t.Context(), "b")
		synctest.Wait()
		failure := errors.New("no server")
		s.fail(failure)
		time.Sleep(pause + 1)
		synctest.Wait()
		late := s.watch(t.Context(), "late")
		synctest.Wait()
		for _, w := range []told{a(), b(), late()} {
			if !w.ended || w.err != failure {
				t.Errorf("a watch: %+v, want the error", w)
			}
		}
		s.fail(nil)
		again := s.watch(t.Context(), "a")
		synctest.Wait()
		if again := again(); !again.began || again.ended {
			t.Errorf("after the error: %+v", again)
		}
		s.Told("a")
	})
}

// Where queues change often they are looked at more often than where nothing happens.
func TestLookoutHurriesAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSightseer()
		s.Pace.First = pause / 100
		w := s.watch(t.Context(), "m")
		time.Sleep(100 * pause)
		synctest.Wait()
		quiet := s.looked()
		if quiet > 110 {
			t.Errorf("%d looks in 100 pauses", quiet)
		}
		for range 100 {
			s.change("m")
			for !w().ended {
				time.Sleep(pause / 100)
				synctest.Wait()
			}
			w = s.watch(t.Context(), "m")
			synctest.Wait()
		}
		if looks := s.looked() - quiet; looks > 210 { // one for each change, and one for the watch after it
			t.Errorf("%d looks for 100 changes", looks)
		}
		s.Told("m")
	})
}

// A watch of a queue of which the engine tells a change does not wait for the next look, and ends no other.
func TestLookoutIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSightseer()
		other, w := s.watch(t.Context(), "other"), s.watch(t.Context(), "m")
		synctest.Wait()
		s.Told("m")
		synctest.Wait()
		if w, other := w(), other(); !w.ended || w.err != nil || other.ended {
			t.Errorf("told: %+v, the other: %+v", w, other)
		}
		s.Told("other")
	})
}
