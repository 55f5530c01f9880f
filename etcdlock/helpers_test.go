package etcdlock_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// long outlives every test; short is the shortest that the servers of these tests grant.
const (
	long  = 20 * time.Second
	short = time.Second
)

// soak reports whether the long versions of tests run.
func soak() bool { return os.Getenv("HOLDFAST_SOAK") != "" }

// times returns how often a test does what it does.
func times(quick, soaking int) int {
	if soak() {
		return soaking
	}
	return quick
}

// claim returns a claim that waits for the whole lock.
func claim(name string, ttl time.Duration) driver.Claim {
	return driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: ttl, Queue: true, Owner: "a test"}
}

// units returns a claim that waits for some units.
func units(name string, weight, limit int64) driver.Claim {
	c := claim(name, long)
	c.Weight, c.Limit = weight, limit
	return c
}

// request requests c, which must succeed, and returns it with its token.
func request(t testing.TB, d driver.Driver, c driver.Claim) (driver.Claim, driver.Status) {
	t.Helper()
	end := pace.Time(t)
	st, err := d.Request(limit(t), c)
	end()
	if err != nil {
		t.Fatalf("Request: %v", err)
	}
	c.Token = st.Token
	return c, st
}

// acquire requests c, which must be granted at once.
func acquire(t testing.TB, d driver.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	c, st := request(t, d, c)
	if !st.Granted {
		t.Fatalf("the claim is not granted: %+v", st)
	}
	return c
}

// enqueue requests c, which must wait.
func enqueue(t testing.TB, d driver.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	c, st := request(t, d, c)
	if st.Granted {
		t.Fatal("the claim is granted while another holds the lock")
	}
	return c
}

func release(t testing.TB, d driver.Driver, c driver.Claim) {
	t.Helper()
	if err := d.Release(limit(t), c); err != nil {
		t.Errorf("Release: %v", err)
	}
}

// granted waits until c is granted, as callers do.
func granted(ctx context.Context, d driver.Driver, c driver.Claim) error {
	for {
		st, err := driver.Wait(ctx, d, c)
		if err == nil && st == (driver.Status{}) || err != nil && !errors.Is(err, driver.ErrGone) && ctx.Err() == nil {
			st, err = d.Request(ctx, c)
		}
		switch {
		case errors.Is(err, driver.ErrGone):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && st.Granted:
			return nil
		}
	}
}

// mustBeGranted waits until c is granted.
func mustBeGranted(t testing.TB, d driver.Driver, c driver.Claim) {
	t.Helper()
	if err := granted(limit(t), d, c); err != nil {
		t.Fatalf("waiting for %s: %v", c.ID, err)
	}
}

// watchers is how many watches the server serves.
func watchers(t testing.TB, addr string) (n int) {
	t.Helper()
	answer, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "etcd_debugging_mvcc_watcher_total "); ok {
			n, err = strconv.Atoi(value)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// until asks until ok says yes. It is for what nobody is told of.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for ctx := limit(t); !ok(); driver.Sleep(ctx, 5*time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// A room has place for one, and notices when there are two.
type room struct {
	inside atomic.Int32
	crowds atomic.Int32

	mu     sync.Mutex
	visits map[string]int
}

// visit spends a moment in the room.
func (r *room) visit(who string) {
	if r.inside.Add(1) > 1 {
		r.crowds.Add(1)
	}
	driver.Sleep(context.Background(), 200*time.Microsecond)
	r.inside.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visits == nil {
		r.visits = make(map[string]int)
	}
	r.visits[who]++
}

// judge fails unless never two were inside, and each of these was there often enough.
func (r *room) judge(t *testing.T, least int, who ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("visits: %v", r.visits)
	if n := r.crowds.Load(); n > 0 {
		t.Errorf("two were inside %d times", n)
	}
	for _, w := range who {
		if r.visits[w] < least {
			t.Errorf("%s was inside %d times, want at least %d", w, r.visits[w], least)
		}
	}
}

// each calls f for 0 to n-1 at once and waits.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
