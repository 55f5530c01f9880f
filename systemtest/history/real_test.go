package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A backend is where the lock of a run is.
type backend struct {
	server string                   // its address, or several with commas between; empty where there is no network
	url    func(addr string) string // of the backend, when it is reached at addr
	ttl    time.Duration
	voted  bool // see [History]; it knows one holder: no readers, no permits
}

var backends = map[string]func(testing.TB) backend{
	"file": func(t testing.TB) backend {
		path := filepath.Join(t.TempDir(), "locks.db")
		return backend{url: func(string) string { return "file:" + path }, ttl: time.Second}
	},
	"redis": func(t testing.TB) backend {
		return backend{server: servers.Redis(t).Addr, url: func(addr string) string { return "redis://" + addr },
			ttl: time.Second}
	},
	"redlock": redlock,
	"etcd": func(t testing.TB) backend {
		return backend{server: servers.Etcd(t).Addr, url: func(addr string) string { return "etcd://" + addr },
			ttl: 3 * time.Second}
	},
	"mysql": func(t testing.TB) backend {
		return migrated(t, backend{server: servers.MariaDB(t).Addr, url: func(addr string) string {
			return "mysql://root@" + addr + "/test"
		}, ttl: 2 * time.Second})
	},
	"postgres": func(t testing.TB) backend {
		return migrated(t, backend{server: servers.Postgres(t).Addr, url: func(addr string) string {
			return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
		}, ttl: 2 * time.Second})
	},
}

// redlock starts servers, and waits until they may vote.
func redlock(t testing.TB) backend {
	t.Helper()
	var addrs []string
	for range 3 {
		addrs = append(addrs, servers.Redis(t).Addr)
	}
	b := backend{server: strings.Join(addrs, ","), ttl: 2 * time.Second, voted: true}
	b.url = func(addr string) string { return fmt.Sprintf("redlock://%s?maxttl=%v", addr, b.ttl) }
	lease, err := open(t, b.url(b.server), b.ttl).Mutex("first").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// migrated makes the tables of a database.
func migrated(t testing.TB, b backend) backend {
	t.Helper()
	if err := sqllock.MigrateURL(t.Context(), b.url(b.server)); err != nil {
		t.Fatal(err)
	}
	return b
}

// How many visitors there are. To show that a history is illegal takes a search through all orders, so there are few
// where that is to be seen.
const (
	visitors = 6
	few      = 3
)

// A crowd visits one lock over lines that fail, and all that it saw could be.
func TestHistories(t *testing.T) {
	for name, start := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // lines that fail keep nobody busy
			b := start(t)
			for _, kind := range []Run{
				{Name: "mutex", Limit: 1, Units: []int64{1}},
				{Name: "readers and writers", Limit: visitors, Units: []int64{1, 1, 1, visitors}},
				{Name: "semaphore", Limit: 3, Units: []int64{1, 2}},
			} {
				if b.voted && kind.Limit > 1 {
					continue
				}
				t.Run(kind.Name, func(t *testing.T) {
					t.Parallel()
					kind.Voted = b.voted
					for range rounds() {
						h := record(t, b, visitors, kind)
						judge(t, h)
					}
				})
			}
		})
	}
}

// The judges find fault with visitors who do not look at their leases: so they would find fault with a lock that does
// not tell them.
func TestJudgesCatchCarelessVisitors(t *testing.T) {
	t.Parallel()
	b := backends["redis"](t)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		h := record(t, b, few, Run{Name: "mutex", Limit: 1, Units: []int64{1}, Careless: true})
		legal := h.Legal(time.Minute)
		if errors.Is(legal, ErrUndecided) {
			t.Fatal(legal)
		}
		if h.Overlap() != nil && legal != nil {
			return
		}
	}
	t.Error("nobody noticed")
}

// record lets n visitors come while their lines fail.
func record(t *testing.T, b backend, n int, r Run) History {
	r.TTL, r.Seed = b.ttl, seed(t)
	r.For = 3 * r.TTL
	if os.Getenv("HOLDFAST_SOAK") != "" {
		r.For = 6 * r.TTL
	}
	var lines []Line
	for range n {
		addr := b.server
		if addr != "" {
			var ends []string
			for server := range strings.SplitSeq(addr, ",") {
				line := proxy.New(t, server)
				lines, ends = append(lines, line), append(ends, line.Addr)
			}
			addr = strings.Join(ends, ",")
		}
		r.Clients = append(r.Clients, open(t, b.url(addr), r.TTL))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var disturbing sync.WaitGroup
	if len(lines) > 0 {
		disturbing.Go(func() { Disturb(ctx, lines, r.TTL, r.Seed) })
	}
	h := r.Record(t.Context())
	cancel()
	disturbing.Wait()
	return h
}

func judge(t *testing.T, h History) {
	t.Helper()
	t.Logf("%d visits: %d got in, %d of these lost it, %d were refused, %d gave up, %d were not answered",
		len(h.Visits), h.Count(Got), h.Losses(), h.Count(Taken), h.Count(GaveUp), h.Count(Unknown))
	if h.Count(Got) == 0 {
		t.Error("nobody got in")
	}
	for what, err := range map[string]error{"overlap": h.Overlap(), "legal": h.Legal(time.Minute)} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := h.Tokens(); err != nil && h.exclusive() {
		t.Errorf("tokens: %v", err)
	}
	if t.Failed() {
		t.Logf("the history: %+v", h)
	}
}

func open(t testing.TB, url string, ttl time.Duration) *holdfast.Client {
	t.Helper()
	return opened.ClientBesideFaults(t, url, holdfast.WithTTL(ttl))
}

// rounds is how many histories each kind and backend gets.
func rounds() int {
	if os.Getenv("HOLDFAST_SOAK") != "" {
		return 20
	}
	return 1
}

// seed draws a seed, and tells it; HOLDFAST_TEST_SEED sets it.
func seed(t *testing.T) uint64 {
	s := rand.Uint64()
	if given := os.Getenv("HOLDFAST_TEST_SEED"); given != "" {
		n, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatal(fmt.Errorf("HOLDFAST_TEST_SEED: %w", err))
		}
		s = n
	}
	t.Logf("HOLDFAST_TEST_SEED=%d", s)
	return s
}
