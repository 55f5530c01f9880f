//go:build unix

package faults

import (
	"context"
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

// A logged server is one whose log is read.
type logged struct {
	start  func(testing.TB) *servers.Server
	at     func(addr string) string // its URL
	errors string                   // a pattern for the lines with which it reports an error
	own    string                   // a pattern for those among them that come whatever clients do
}

var loggedServers = map[string]logged{
	"redis": {
		start:  func(t testing.TB) *servers.Server { return servers.Redis(t) },
		at:     func(addr string) string { return "redis://" + addr },
		errors: `(?m)^\d+:\w .* # .*$`,
	},
	"etcd": {
		start:  func(t testing.TB) *servers.Server { return servers.Etcd(t) },
		at:     func(addr string) string { return "etcd://" + addr },
		errors: `(?m)^\{"level":"(error|dpanic|panic|fatal)".*$`,
		own:    "failed to update storage version", // soon after its start
	},
	"zookeeper": {
		start:  func(t testing.TB) *servers.Server { return servers.ZooKeeper(t) },
		at:     func(addr string) string { return "zk://" + addr },
		errors: `(?m)^.*\bERROR\b.*$`,
	},
	"mariadb": {
		start:  func(t testing.TB) *servers.Server { return servers.MariaDB(t) },
		at:     func(addr string) string { return "mysql://root@" + addr + "/test" },
		errors: `(?m)^.*\[ERROR\].*$`,
	},
	"postgres": {
		start:  func(t testing.TB) *servers.Server { return servers.Postgres(t) },
		at:     func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" },
		errors: `(?m)^.*\b(ERROR|FATAL|PANIC): .*$`,
	},
}

// Whatever clients do with locks, hold them, wait for them, give up, hand them on or die, no server reports an error.
func TestLogStaysQuiet(t *testing.T) {
	for name, l := range loggedServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := l.start(t)
			b := backend{server: server.Addr, at: l.at}
			if name == "mariadb" || name == "postgres" {
				b = b.migrated(t)
			}
			before := len(server.Log(t))
			aLife(t, b)
			log := server.Log(t)[before:]
			own := regexp.MustCompile(l.own)
			for _, line := range regexp.MustCompile(l.errors).FindAllString(log, -1) {
				if l.own == "" || !own.MatchString(line) {
					t.Errorf("the server has logged %q", line)
				}
			}
		})
	}
}

// aLife is what happens to a lock: it is held, waited for in vain, taken from a process that dies, renewed, and handed
// on.
func aLife(t *testing.T, b backend) {
	const impatient = 5
	h := startHolder(t, b.url())
	patient := holdfast.WithTTL(10 * time.Second) // a busy machine loses no such lease
	first, second := open(t, b.url(), patient), open(t, b.url(), patient)
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
