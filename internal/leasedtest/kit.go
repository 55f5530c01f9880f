package leasedtest

import (
	"context"
	"errors"
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// Long outlives every test, on a busy machine too; ZooKeeper grants no more than two minutes. Short is the shortest TTL
// that the servers of these tests grant.
const (
	Long  = 100 * time.Second
	Short = time.Second
)

// Main runs the tests of a package, and lets more of them run at once than there are processors: most of them wait
// most of the time.
func Main(m *testing.M) {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "4")
	}
	code := m.Run()
	cleanUp()
	os.Exit(code)
}

// Limit returns a context that ends long after anything should have happened on a busy machine: it ends what hangs.
func Limit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// CloseLater closes a driver with the test.
func CloseLater(t testing.TB, d claimed.Driver) {
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// OpenURL opens a driver as programs do. It is closed with the test.
func OpenURL(t testing.TB, url string) (claimed.Driver, error) {
	t.Helper()
	return OpenWithin(Limit(t), t, url)
}

// OpenWithin is OpenURL for who does not wait for long.
func OpenWithin(ctx context.Context, t testing.TB, url string) (claimed.Driver, error) {
	t.Helper()
	d, err := drivertest.Open(ctx, url)
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

// MustOpen is OpenURL where that must succeed.
func MustOpen(t testing.TB, url string) claimed.Driver {
	t.Helper()
	d, err := OpenURL(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Addrs are the addresses of these servers.
func Addrs(cluster []*servers.Server) (list []string) {
	for _, s := range cluster {
		list = append(list, s.Addr)
	}
	return list
}

// Units returns a claim that waits for some units.
func Units(name string, weight, limit int64) driver.Claim {
	c := claimed.Mutex(name, Long)
	c.Weight, c.Limit = weight, limit
	return c
}

// Take requests c and waits until it is granted.
func Take(t testing.TB, d claimed.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	c, st := claimed.Request(t, d, c)
	if !st.Granted {
		MustBeGranted(t, d, c)
	}
	return c
}

// Granted waits until c is granted, as callers do.
func Granted(ctx context.Context, d claimed.Driver, c driver.Claim) error {
	for {
		st, err := d.Wait(ctx, c)
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

// MustBeGranted waits until c is granted.
func MustBeGranted(t testing.TB, d claimed.Driver, c driver.Claim) {
	t.Helper()
	if err := Granted(Limit(t), d, c); err != nil {
		t.Fatalf("waiting for %s: %v", c.ID, err)
	}
}

// Heard has an element once something may have happened to a claim that is granted.
func Heard(t testing.TB, d claimed.Driver, c driver.Claim) <-chan struct{} {
	t.Helper()
	heard := make(chan struct{}, 1)
	stop, err := d.Listen(Limit(t), c, func() {
		select {
		case heard <- struct{}{}:
		default: // that is known
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return heard
}

// lockAtLast acquires a lock, again where a busy machine did not answer within the TTL.
func lockAtLast(ctx context.Context, m *holdfast.Mutex) (*holdfast.Lease, error) {
	for {
		l, err := m.Lock(ctx)
		if !errors.Is(err, holdfast.ErrUnknown) || ctx.Err() != nil {
			return l, err
		}
	}
}

// Until asks until ok says yes. It is for what nobody is told of.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for ctx := Limit(t); !ok(); driver.Sleep(ctx, 5*time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// Queued waits until so many claims are on a lock.
func Queued(t testing.TB, d claimed.Driver, name string, n int) {
	t.Helper()
	Until(t, "all are queued", func() bool {
		queue, err := d.Queue(Limit(t), name)
		return err == nil && len(queue) == n
	})
}

// Beside has something done beside the test, until that ends.
func Beside(t testing.TB, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { do(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// Each calls f for 0 to n-1 at once and waits.
func Each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
