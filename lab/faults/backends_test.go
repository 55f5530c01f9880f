package faults

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "modernc.org/sqlite"
)

const (
	ttl      = 2 * time.Second
	lockName = "contested"
)

// A backend is where a test's lock lives.
type backend struct {
	url       string
	seesDeath bool // it notices at once that a client's process ended
}

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
		test(t, backend{url: "file:" + filepath.Join(t.TempDir(), "locks.db"), seesDeath: true})
	})
	t.Run("redis", func(t *testing.T) {
		test(t, backend{url: "redis://" + servers.Redis(t).Addr})
	})
}

// open returns a client that is closed with the test.
func open(t *testing.T, url string, opts ...holdfast.Option) *holdfast.Client {
	t.Helper()
	c, err := holdfast.Open(t.Context(), url, append([]holdfast.Option{holdfast.WithTTL(ttl)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ttl)
		defer cancel()
		c.Close(ctx) // what a fault left behind is not this test's matter
	})
	return c
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
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass in 30 s")
		}
	}
}

// rounds is how often a test that is drawn from many repeats itself: more in a soak.
func rounds(quick, soak int) int {
	if os.Getenv("HOLDFAST_SOAK") != "" {
		return soak
	}
	return quick
}
