//go:build unix

package faults

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/zklock"
)

var logFor = flag.Duration("faults.log", 0,
	"TestLogStaysQuiet goes on for so long, on servers that also log what takes a second")

// A logged server is one whose log is read.
type logged struct {
	start  func(t testing.TB, args ...string) *servers.Server
	slow   []string                 // the arguments that make it log what takes a second
	at     func(addr string) string // its URL
	errors string                   // a pattern for the lines with which it reports an error, or something slow
	own    string                   // a pattern for those among them that come whatever clients do
}

var loggedServers = map[string]logged{
	"redis": {
		start:  servers.Redis,
		at:     func(addr string) string { return "redis://" + addr },
		errors: `(?m)^\d+:\w .* # .*$`,
	},
	"etcd": {
		start:  servers.Etcd,
		slow:   []string{"--log-level", "warn", "--warning-apply-duration", "1s"},
		at:     func(addr string) string { return "etcd://" + addr },
		errors: `(?m)^\{"level":"(error|dpanic|panic|fatal)".*$|^.*"apply request took too long".*$`,
		own:    "failed to update storage version", // soon after its start
	},
	"zookeeper": {
		start:  servers.ZooKeeper,
		at:     func(addr string) string { return "zk://" + addr },
		errors: `(?m)^.*\b(ERROR|old client)\b.*$`,
	},
	"mariadb": {
		start:  servers.MariaDB,
		slow:   []string{"--slow-query-log=1", "--long-query-time=1", "--slow-query-log-file=/dev/stderr"},
		at:     func(addr string) string { return "mysql://root@" + addr + "/test" },
		errors: `(?m)^.*\[ERROR\].*$|^# Query_time: .*\n(?:.*\n){1,3}`,
	},
	"postgres": {
		start:  servers.Postgres,
		slow:   []string{"-c", "log_min_duration_statement=1s", "-c", "log_lock_waits=on"},
		at:     func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" },
		errors: `(?m)^.*\b(ERROR|FATAL|PANIC): .*$(?:\n.* STATEMENT: .*$)?|^.*\b(duration: \d|still waiting for ).*$`,
	},
}

// Whatever clients do with locks, hold them, wait for them, give up, hand them on or die, no server reports an error.
func TestLogStaysQuiet(t *testing.T) {
	for name, l := range loggedServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			if *logFor > 0 {
				args = l.slow
			}
			server := l.start(t, args...)
			b := backend{server: server.Addr, at: l.at}
			if name == "mariadb" || name == "postgres" {
				b = b.migrated(t)
			}
			before := len(server.Log(t))
			for end := time.Now().Add(*logFor); ; {
				t.Run("life", func(t *testing.T) { aLife(t, b) })
				if !time.Now().Before(end) {
					break
				}
			}
			l.staysQuiet(t, server.Log(t)[before:])
		})
	}
}

// staysQuiet fails if the log of a server has an error.
func (l logged) staysQuiet(t *testing.T, log string) {
	t.Helper()
	own := regexp.MustCompile(l.own)
	for _, line := range regexp.MustCompile(l.errors).FindAllString(log, -1) {
		if l.own == "" || !own.MatchString(line) {
			t.Errorf("the server has logged %q", line)
		}
	}
}

// A client that is closed while it waits, and while it renews, cuts no statement off.
func TestClosingIsQuiet(t *testing.T) {
	for _, name := range []string{"mariadb", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := loggedServers[name]
			server := l.start(t)
			b := backend{server: server.Addr, at: l.at}.migrated(t)
			look := open(t, b.url())
			lock(t, look, time.Minute)
			before := len(server.Log(t))
			for range 10 {
				c := open(t, b.url())
				var waiting sync.WaitGroup
				waiting.Go(func() { c.Mutex(lockName).Lock(t.Context()) })
				untilQueued(t, look, 2)
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
				waiting.Wait()
			}
			l.staysQuiet(t, server.Log(t)[before:])
		})
	}
}

// Nor does a client that is closed while its connections are being set up, for requests that came all at once.
func TestClosingWhileItConnectsIsQuiet(t *testing.T) {
	const clients, requests = 150, 8
	for _, name := range []string{"mariadb", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := loggedServers[name]
			server := l.start(t)
			b := backend{server: server.Addr, at: l.at}.migrated(t)
			before := len(server.Log(t))
			for i := range clients {
				c := open(t, b.url())
				var asking sync.WaitGroup
				for k := range requests {
					asking.Go(func() { c.Mutex(fmt.Sprint(lockName, k)).TryLock(t.Context()) })
				}
				time.Sleep(time.Duration(i%100) * 100 * time.Microsecond) // another moment each time
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
				asking.Wait()
			}
			l.staysQuiet(t, server.Log(t)[before:])
		})
	}
}

// aLife is what happens to a lock: it is held, waited for in vain, taken from a process that dies, renewed, waited for
// by a process that dies, and handed on.
func aLife(t *testing.T, b backend) {
	const (
		impatient = 5
		ttl       = 10 * time.Second // a busy machine loses no such lease, and gives up no renewal of it
	)
	h := startHolderFor(t, b.url(), ttl)
	first, second := open(t, b.url(), holdfast.WithTTL(ttl)), open(t, b.url(), holdfast.WithTTL(ttl))
	ctx, giveUp := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range impatient {
		waiting.Go(func() {
			if lease, err := first.Mutex(lockName, holdfast.WithLocalHandoff(0)).Lock(ctx); err == nil {
				lease.Release(t.Context())
			}
		})
	}
	untilQueued(t, second, 1+impatient)
	if _, err := second.Mutex(lockName).TryLock(t.Context()); err == nil {
		t.Error("a lock that is held was acquired")
	}
	giveUp()
	waiting.Wait()
	signal(t, h, syscall.SIGKILL)
	lease := lock(t, first, time.Minute)
	dying := startWaiter(t, b.url(), ttl)
	untilQueued(t, second, 1+1)
	signal(t, dying, syscall.SIGKILL)
	next := make(chan *holdfast.Lease, 1)
	go func() { next <- lock(t, second, time.Minute) }()
	renewed := lease.ValidUntil().Add(time.Second)
	until(t, func() bool { return lease.ValidUntil().After(renewed) })
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := (<-next).Release(t.Context()); err != nil {
		t.Error(err)
	}
}
