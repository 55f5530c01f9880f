// Package claimed requests and releases claims of drivers for tests, which end where that does not go as they say.
package claimed

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// patience ends what hangs. It is far above what an answer takes, on a busy machine too.
const patience = 5 * time.Minute

// A Requester has the two methods by which claims come and go.
type Requester interface {
	Request(ctx context.Context, c driver.Claim) (driver.Status, error)
	Release(ctx context.Context, c driver.Claim) error
}

// A Driver has a method for each kind of operation, and some to wait, as drivertest.Facade has.
type Driver interface {
	driver.Driver
	Requester
	Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error)
	Queue(ctx context.Context, name string) ([]driver.Entry, error)
	Break(ctx context.Context, name, id string) error
	Revoke(ctx context.Context, name, id string) error
	Value(ctx context.Context, name string) (driver.Value, error)
	SetValue(ctx context.Context, c driver.Claim, v driver.Value) error
	Wait(ctx context.Context, c driver.Claim) (driver.Status, error)
	Watch(ctx context.Context, name string) error
	Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error)
}

// Mutex returns a claim that waits for the whole lock.
func Mutex(name string, ttl time.Duration) driver.Claim {
	return driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: ttl, Queue: true, Owner: "a test"}
}

// Try returns c as a claim that does not wait.
func Try(c driver.Claim) driver.Claim {
	c.Queue = false
	return c
}

// Request requests c, which must be answered, and returns it with its token.
func Request(t testing.TB, d Requester, c driver.Claim) (driver.Claim, driver.Status) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	end := pace.Time(t)
	st, err := d.Request(ctx, c)
	end()
	if err != nil {
		t.Fatalf("Request(%s): %v", c.ID, err)
	}
	c.Token = st.Token
	return c, st
}

// InBackground requests c in a goroutine of its own, and sends how that ended.
func InBackground(d Requester, c driver.Claim) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := d.Request(context.Background(), c)
		ended <- err
	}()
	return ended
}

// Ask requests c, which must end up granted or waiting as wanted.
func Ask(t testing.TB, d Requester, c driver.Claim, granted bool) driver.Status {
	t.Helper()
	_, st := Request(t, d, c)
	if st.Granted != granted {
		t.Fatalf("Request(%s) = %+v; want granted: %v", c.ID, st, granted)
	}
	return st
}

// Acquire requests c, which must be granted at once, and returns it with its token.
func Acquire(t testing.TB, d Requester, c driver.Claim) driver.Claim {
	t.Helper()
	c.Token = Ask(t, d, c, true).Token
	return c
}

// Enqueue requests c, which must wait, and returns it with its token.
func Enqueue(t testing.TB, d Requester, c driver.Claim) driver.Claim {
	t.Helper()
	c.Token = Ask(t, d, c, false).Token
	return c
}

// Release releases c, which must succeed.
func Release(t testing.TB, d Requester, c driver.Claim) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.Release(ctx, c); err != nil {
		t.Errorf("Release(%s): %v", c.ID, err)
	}
}

// IsGone fails unless c has ended: it is gone for a renewal, for its release, and for a late copy of its first request.
func IsGone(t testing.TB, d Requester, c driver.Claim) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, renewed := d.Request(ctx, c)
	released := d.Release(ctx, c)
	c.Token = 0
	_, late := d.Request(ctx, c)
	for what, err := range map[string]error{"a renewal": renewed, "a release": released, "a late request": late} {
		if !errors.Is(err, driver.ErrGone) {
			t.Errorf("%s answers %v, want ErrGone", what, err)
		}
	}
}

// Renew requests claims in one batch, only to keep them alive.
func Renew(ctx context.Context, d driver.Driver, claims []driver.Claim) []driver.Result {
	batch, results := make([]driver.Op, len(claims)), make([]driver.Result, len(claims))
	for i, c := range claims {
		batch[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true}
	}
	d.Do(ctx, batch, func(i int, r driver.Result) { results[i] = r })
	return results
}

// Renewing returns how many bytes this process allocates to renew claims together, at best. That grows with what a
// driver in this process looks at. Nothing else may be under way.
func Renewing(t testing.TB, d driver.Driver, claims []driver.Claim) uint64 {
	t.Helper()
	best := uint64(math.MaxUint64)
	for range 3 {
		before := allocated()
		results := Renew(t.Context(), d, claims)
		best = min(best, allocated()-before)
		for _, r := range results {
			if r.Err != nil || !r.Status.Granted {
				t.Fatalf("a renewal: %+v", r)
			}
		}
	}
	return best
}

// allocated is how many bytes this process has allocated so far.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}
