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
	"github.com/holdfast-go/holdfast/internal/servers"
)

// cpu is how long a server has computed so far.
func cpu(t *testing.T, s *servers.Server) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Pid))
	if err != nil {
		t.Skip("the system does not tell how long a process has computed: ", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] { // utime, stime: see proc_pid_stat(5)
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// Those who wait in one queue cost the server at most 3% of a core where they are a thousand and have the TTL that
// is the default. The server works in proportion to how many they are, and how often they renew.
func TestIdleWaiters(t *testing.T) {
	t.Parallel()
	server := servers.Etcd(t)
	const clients = 10
	waiters, ttl := times(300, 1000), 6*time.Second
	if soak() {
		ttl = holdfast.DefaultTTL
	}
	const unasked = 0.01 // of a core is what a server costs that nobody asks anything
	most := unasked + 0.03*float64(waiters)/1000*float64(holdfast.DefaultTTL)/float64(ttl)
	d := open(t, nil, server.Addr)
	held := acquire(t, d, claim("job", 10*time.Minute))
	ctx, ended := t.Context(), make(chan error, waiters)
	each(clients, func(int) {
		c := holdfast.New(open(t, nil, server.Addr))
		for range waiters / clients {
			go func() { // ends with the test
				_, err := c.Mutex("job", holdfast.WithTTL(ttl), holdfast.WithLocalHandoff(0)).Lock(ctx)
				ended <- err
			}()
		}
	})
	until(t, "all wait", func() bool { return watchers(t, server.Addr) == 2*waiters })

	began, before := time.Now(), cpu(t, server)
	driver.Sleep(ctx, ttl)
	used := float64(cpu(t, server)-before) / float64(time.Since(began))
	t.Logf("%d waiters cost %.2f%% of a core", waiters, 100*used)
	if used > most {
		t.Errorf("%d waiters cost %.2f%% of a core, want at most %.2f%%", waiters, 100*used, 100*most)
	}
	select {
	case err := <-ended:
		t.Errorf("a waiter has ended: %v", err)
	default:
	}
	if queue, err := d.Queue(limit(t), "job"); err != nil || len(queue) != waiters+1 || queue[0].ID != held.ID {
		t.Errorf("%d are in the queue, %v", len(queue), err)
	}
}
