package sqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// occupations are what keeps requests waiting.
var occupations = map[string]func(t *testing.T, path string) (free func()){
	"a transaction that writes": occupyDatabase,
	"the turn of another":       occupyTurn,
}

// While another is in the middle of a transaction a request waits, but no longer than its context; and what gave up
// leaves nothing that others would have to wait for.
func TestBusyDatabase(t *testing.T) {
	for name, occupy := range occupations {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			d, other := open(t, path), open(t, path)
			free := occupy(t, path)
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				_, err := d.Request(ctx, mutex("m"))
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, driver.ErrUnsent) {
					t.Errorf("Request: %v, want the end of its context, and ErrUnsent", err)
				}
				cancel()
			}
			waited := claimed.InBackground(d, mutex("m"))
			free()
			if err := <-waited; err != nil {
				t.Errorf("a patient request: %v", err)
			}
			request(t, other, mutex("another"), true)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			free = occupy(t, path)
			d.Request(ctx, mutex("m")) // it gives up while it waits
			free()
			for i := range 20 { // what gave up may be granted its turn between two of them
				request(t, other, mutex(fmt.Sprint("free ", i)), true)
			}
		})
	}
}

func occupyDatabase(t *testing.T, path string) (free func()) {
	t.Helper()
	conn, err := openSQL(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

func occupyTurn(t *testing.T, path string) (free func()) {
	t.Helper()
	f, err := os.Open(path + ".clients")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

// A request that waits for others does not keep the driver from being closed.
func TestCloseWhileBusy(t *testing.T) {
	for name, occupy := range occupations {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			d := open(t, path)
			defer occupy(t, path)()
			requested := claimed.InBackground(d, mutex("m"))
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if err := <-requested; err == nil {
				t.Error("the request was answered")
			}
		})
	}
}

// Whatever was under way when the driver is closed ends.
func TestCloseEndsWaits(t *testing.T) {
	path := newFile(t)
	d, other := open(t, path), open(t, path)
	request(t, other, mutex("m"), true)
	next := mutex("m")
	request(t, d, next, false)
	ended := make(chan error)
	go func() {
		_, err := d.Wait(context.Background(), next)
		ended <- err
	}()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("Wait has news of a driver that is closed")
	}
	if _, err := d.Request(t.Context(), next); err == nil {
		t.Error("a driver that is closed answers")
	}
}

// Whatever is granted while the driver is closed is free then, like all that it had.
func TestCloseBesideRequests(t *testing.T) {
	path := filepath.Join(memoryFolder(t), "locks.db")
	other := open(t, path)
	for range 10 {
		d, held := open(t, path), make(chan []driver.Claim)
		const askers = 8
		for range askers {
			go func() { held <- askUntilClosed(d) }()
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for range askers {
			for _, c := range <-held {
				request(t, other, mutex(c.Name), true)
			}
		}
	}
}

// askUntilClosed requests locks until the driver is closed, and returns those that it was granted.
func askUntilClosed(d *drivertest.Facade) (held []driver.Claim) {
	for {
		c := mutex(driver.NewID())
		if st, err := d.Request(context.Background(), c); err != nil || !st.Granted {
			return held
		}
		held = append(held, c)
	}
}
