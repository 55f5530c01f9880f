package etcdlock_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// To renew a claim that waits, the server looks at its key and at that of the claim it waits for, however many wait in
// the queue, and is asked about many claims in one call. Each claim is renewed every few seconds: if the server looked
// at the whole queue for each, a thousand waiters would cost half a core.
func TestRenewalsOfManyWaiters(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for _, waiters := range []int64{100, effort.Pick[int64](300, 1000)} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			var n counter
			d := on(t, n.client(t, addr))
			name := fmt.Sprint("line of ", waiters)
			held := acquire(t, d, claim(name, long))
			var line []driver.Claim
			for range waiters {
				line = append(line, enqueue(t, d, claim(name, long)))
			}
			n.calls.Store(0)
			n.keys.Store(0)
			keepWaiting(t, d, line)
			calls, keys := n.calls.Load(), n.keys.Load()
			t.Logf("%d calls and %d keys for %d renewals", calls, keys, waiters)
			if keys > 2*waiters || calls > waiters/20 {
				t.Errorf("%d renewals took %d calls, and the server looked at %d keys; want %d and %d at most",
					waiters, calls, keys, waiters/20, 2*waiters)
			}
			queue, err := d.Queue(limit(t), name)
			if err != nil || len(queue) != len(line)+1 || queue[0].ID != held.ID {
				t.Errorf("%d are in the queue, %v", len(queue), err)
			}
		})
	}
}

// keepWaiting renews claims together, each of which must wait still.
func keepWaiting(t *testing.T, d *etcdlock.Driver, line []driver.Claim) {
	t.Helper()
	results, err := d.Renew(limit(t), line)
	for i, r := range results {
		if err != nil || r.Err != nil || r.Status.Granted {
			t.Fatalf("renewing the waiter %d: %+v, %v", i, r, err)
		}
	}
}

// BenchmarkIdleWaiters measures how much of a core a thousand callers cost the server that wait in one queue.
func BenchmarkIdleWaiters(b *testing.B) {
	server := servers.Etcd(b)
	const clients, waiters = 10, 1000
	acquire(b, open(b, nil, server.Addr), claim("job", 10*time.Minute))
	ended := make(chan error, waiters)
	for range clients {
		c := holdfast.New(open(b, nil, server.Addr))
		for range waiters / clients {
			go func() { // ends with the benchmark
				_, err := c.Mutex("job", holdfast.WithLocalHandoff(0)).Lock(b.Context())
				ended <- err
			}()
		}
	}
	until(b, "all wait", func() bool { return watchers(b, server.Addr) == 2*waiters })
	began, before := time.Now(), processorTime(b, server)
	for b.Loop() {
		driver.Sleep(b.Context(), holdfast.DefaultTTL)
	}
	b.ReportMetric(100*float64(processorTime(b, server)-before)/float64(time.Since(began)), "%core")
	select {
	case err := <-ended:
		b.Errorf("a waiter has ended: %v", err)
	default:
	}
}

// processorTime is how long a server has computed so far.
func processorTime(b *testing.B, s *servers.Server) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Pid))
	if err != nil {
		b.Skip("the system does not tell how long a process has computed: ", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] { // utime, stime: see proc_pid_stat(5)
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
