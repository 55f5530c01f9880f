package faults

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	_ "github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/sqllock"
)

const (
	ttl      = 2 * time.Second
	lockName = "contested"
)

// A backend is where a test's lock lives.
type backend struct {
	server    string                   // its address; empty where there is no network
	at        func(addr string) string // the URL of the backend, when it is reached at addr
	seesDeath bool                     // it notices at once that a client's process ended
}

func (b backend) url() string { return b.at(b.server) }

// freedWithin is how long a dead holder may keep the lock, with something for a busy machine.
func (b backend) freedWithin(ttl time.Duration) time.Duration {
	if b.seesDeath {
		return ttl / 2
	}
	return ttl + ttl/2
}

// onEach runs a test on each backend that processes share.
func onEach(t *testing.T, test func(*testing.T, backend)) {
	t.Run("file", func(t *testing.T) {
		url := "file:" + filepath.Join(t.TempDir(), "locks.db")
		test(t, backend{at: func(string) string { return url }, seesDeath: true})
	})
	onServers(t, test)
}

// onServers runs a test on each backend that is reached over a network.
func onServers(t *testing.T, test func(*testing.T, backend)) {
	t.Run("redis", func(t *testing.T) {
		test(t, backend{server: servers.Redis(t).Addr, at: func(addr string) string { return "redis://" + addr }})
	})
	t.Run("mysql", func(t *testing.T) {
		b := backend{server: servers.MariaDB(t).Addr,
			at: func(addr string) string { return "mysql://root@" + addr + "/test" }}
		test(t, b.migrated(t))
	})
	t.Run("postgres", func(t *testing.T) {
		b := backend{server: servers.Postgres(t).Addr, at: func(addr string) string {
			return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
		}}
		test(t, b.migrated(t))
	})
}

// migrated makes the tables of a database.
func (b backend) migrated(t *testing.T) backend {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), b.url()); err != nil {
		t.Fatal(err)
	}
	return b
}

// open returns a client that is closed with the test.
func open(t testing.TB, url string, opts ...holdfast.Option) *holdfast.Client {
	t.Helper()
	return opened.ClientBesideFaults(t, url, append([]holdfast.Option{holdfast.WithTTL(ttl)}, opts...)...)
}

// lock acquires the lock, or ends the test.
func lock(t *testing.T, c *holdfast.Client, within time.Duration) *holdfast.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	lease, err := c.Mutex(lockName).Lock(ctx)
	if err != nil {
		t.Errorf("lock: %v", err)
		panic(err)
	}
	return lease
}

// untilQueued waits until so many claims are in the queue.
func untilQueued(t *testing.T, c *holdfast.Client, n int) {
	t.Helper()
	until(t, func() bool {
		queue, err := c.Queue(t.Context(), lockName)
		return err == nil && len(queue) == n
	})
}

// until waits for a condition that nobody announces.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass in 2 minutes")
		}
	}
}
