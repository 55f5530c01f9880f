package holdfast_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A forgetful engine keeps no record of claims that were released, and loses answers.
type forgetful struct {
	mu       sync.Mutex
	lose     map[driver.Kind]int // so many answers to come
	slow     time.Duration       // how long a release takes
	tries    map[driver.Kind][]driver.Try
	released map[string]bool
}

func (f *forgetful) pass(_ context.Context, op driver.Op, next next) driver.Result {
	if op.Kind == driver.OpRelease {
		time.Sleep(f.slow)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if op.Claim.Token == 0 || op.Kind == driver.OpRelease {
		f.tries[op.Kind] = append(f.tries[op.Kind], op.Try)
	}
	r := next(op)
	switch {
	case op.Kind != driver.OpRelease || r.Err != nil:
	case f.released[op.Claim.ID] && op.Try == driver.TryAgain:
		r.Err = driver.ErrUnknown
	case f.released[op.Claim.ID]:
		r.Err = driver.ErrGone
	default:
		f.released[op.Claim.ID] = true
	}
	if f.lose[op.Kind] > 0 {
		f.lose[op.Kind]--
		r = driver.Result{Err: errors.New("the answer was lost")}
	}
	return r
}

// Engines are told of each request and release whether it was tried before, so that they may forget what nobody asks
// for again. A release whose answer was lost counts as one, as long as the claim cannot have expired.
func TestTries(t *testing.T) {
	const first, again = driver.TryFirst, driver.TryAgain
	for _, row := range []struct {
		name               string
		requests, releases int           // answers that are lost
		slow               time.Duration // how long a release takes
		async              bool
		asked, given       []driver.Try
		err                error
	}{
		{name: "nothing is lost", asked: []driver.Try{first}, given: []driver.Try{0}},
		{name: "requests", requests: 2, asked: []driver.Try{first, 0, 0}, given: []driver.Try{0}},
		{name: "releases", releases: 2, asked: []driver.Try{first}, given: []driver.Try{0, again, again}},
		{
			name: "releases, until the claim may have expired", releases: 7, slow: 2 * time.Second,
			asked: []driver.Try{first}, given: []driver.Try{0, again, again, again, again, again, again, again},
			err: holdfast.ErrUnknown,
		},
		{
			name: "releases in the background", releases: 2, async: true,
			asked: []driver.Try{first}, given: []driver.Try{0, again, again},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &forgetful{
					lose: map[driver.Kind]int{driver.OpRequest: row.requests, driver.OpRelease: row.releases},
					slow: row.slow, tries: map[driver.Kind][]driver.Try{}, released: map[string]bool{},
				}
				var seen recorder
				c := newClient(t, batch.Intercept(memlock.New(), f.pass), holdfast.WithObserver(&seen))
				var opts []holdfast.Option
				if row.async {
					opts = append(opts, holdfast.WithAsyncRelease())
				}
				lease := must(c.Mutex("m", opts...).Lock(t.Context()))(t)
				err := lease.Release(t.Context())
				if row.async {
					time.Sleep(holdfast.DefaultTTL / 2)
					synctest.Wait()
					seen.mu.Lock()
					err = seen.events[len(seen.events)-1].Err
					seen.mu.Unlock()
				}
				if !errors.Is(err, row.err) {
					t.Errorf("the release says %v, want %v", err, row.err)
				}
				defer time.Sleep(holdfast.DefaultTTL) // until the client has taken back what it can
				f.mu.Lock()
				defer f.mu.Unlock()
				if got := f.tries[driver.OpRequest]; !slices.Equal(got, row.asked) {
					t.Errorf("requests were tried as %v, want %v", got, row.asked)
				}
				if got := f.tries[driver.OpRelease]; !slices.Equal(got, row.given) {
					t.Errorf("releases were tried as %v, want %v", got, row.given)
				}
			})
		})
	}
}

// A claim that is asked for anew, after it was gone too early, is not asked for as if for the first time.
func TestTriesOfAClaimThatReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forgetful{tries: map[driver.Kind][]driver.Try{}, released: map[string]bool{}}
		engine := memlock.New()
		must(newClient(t, engine).Mutex("m").Lock(t.Context()))(t)
		c := newClient(t, batch.Intercept(engine, func(ctx context.Context, op driver.Op, next next) driver.Result {
			if op.Kind == driver.OpRequest && op.Claim.Token != 0 {
				return driver.Result{Err: driver.ErrGone}
			}
			return f.pass(ctx, op, next)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), holdfast.DefaultTTL/2)
		defer cancel()
		if _, err := c.Mutex("m").Lock(ctx); err == nil {
			t.Error("a lock that another client has was acquired")
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if got := f.tries[driver.OpRequest]; len(got) < 2 || got[0] != driver.TryFirst || got[1] != 0 {
			t.Errorf("requests were tried as %v, want one as the first, and then others", got)
		}
	})
}
