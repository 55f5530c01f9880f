package redislock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// foreignLayouts are the layouts of other libraries.
var foreignLayouts = []redislock.Layout{redislock.PythonRedisLock, redislock.Redisson}

func TestForeignLayouts(t *testing.T) {
	effort.Long(t)
	for _, layout := range foreignLayouts {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			addr := servers.Redis(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return openForeign(t, addr, layout) },
				TTL:  time.Second,
			})
		})
	}
}

// One of ours that took the signal of python-redis-lock gives up before it asks: one of theirs is woken in its place.
// While somebody has the lock, nobody is.
func TestForeignSignalIsPassedOn(t *testing.T) {
	srv := servers.Redis(t)
	d := openForeign(t, srv.Addr, redislock.PythonRedisLock)
	redis := func(args ...string) string { return srv.RedisCommand(t, args...) }
	queued := func(id string) driver.Claim {
		c := driver.Claim{Name: shared, ID: id, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
		if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
			t.Fatal(st, err)
		}
		return c
	}
	leave := func(c driver.Claim, signals string) {
		t.Helper()
		if err := d.Release(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		eventually(t, signals+" signals", func() bool { return redis("LLEN", "lock-signal:"+shared) == signals })
	}
	redis("SET", "lock:"+shared, "theirs")
	leave(queued("early"), "0")

	c := queued("late")
	const unlock = "redis.call('LPUSH', KEYS[1], '1') redis.call('DEL', KEYS[2])" // in one step, as theirs
	redis("EVAL", unlock, "2", "lock-signal:"+shared, "lock:"+shared)
	if _, err := d.Wait(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	leave(c, "1")
	if ttl := redis("PTTL", "lock-signal:"+shared); ttl == "-1" {
		t.Error("the signal stays for ever")
	}
}

// The holder is told that others wait for as long as one does: not when that one has left, has died or has the lock.
func TestForeignContention(t *testing.T) {
	for _, layout := range foreignLayouts {
		clock := servers.NewClock(t)
		d := openForeign(t, servers.RedisAt(t, clock).Addr, layout)
		wants := func(id string, ttl time.Duration) driver.Claim {
			return driver.Claim{Name: shared, ID: id, Weight: 1, Limit: 1, TTL: ttl, Queue: true}
		}
		holder := wants("holder", time.Hour)
		contended := func(want bool) {
			t.Helper()
			if st, err := d.Request(t.Context(), holder); err != nil || !st.Granted || st.Contended != want {
				t.Errorf("%s: %+v, %v; want it contended: %v", layout, st, err, want)
			}
		}
		contended(false)
		first, second := wants("first", time.Minute), wants("second", time.Minute)
		for _, c := range []driver.Claim{first, second} { // the last one is noted
			if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
				t.Fatal(st, err)
			}
			contended(true)
		}
		release(t, d, first)
		contended(true)
		release(t, d, second)
		contended(false)
		dead, next := wants("dead", time.Minute), wants("next", time.Hour)
		d.Request(t.Context(), dead)
		contended(true)
		clock.Set(t, 2*time.Minute)
		contended(false)
		d.Request(t.Context(), next)
		contended(true)
		release(t, d, holder)
		holder = next
		contended(false)
	}
}

// Our record of their lock may lose fields, or what they hold: the lock can be had all the same, and is given back.
func TestForeignDamagedRecord(t *testing.T) {
	for _, layout := range foreignLayouts {
		srv := servers.Redis(t)
		d := openForeign(t, srv.Addr, layout)
		for _, damage := range [][]string{
			{"HDEL", "until"}, {"HDEL", "waiter"}, {"HDEL", "token"},
			{"HSET", "token", "x"}, {"HSET", "until", ""}, {"DEL"},
		} {
			try := func() driver.Claim { c := claim(shared, long); c.Queue = false; return c }
			held := acquire(t, d, try())
			enqueue(t, d, claim(shared, long))
			release(t, d, held)
			for _, key := range strings.Fields(srv.RedisCommand(t, "KEYS", "holdfast-guest:lock:*")) {
				srv.RedisCommand(t, append([]string{damage[0], key}, damage[1:]...)...)
			}
			next := acquire(t, d, try())
			if next.Token <= held.Token {
				t.Errorf("%s, %q: token %d after %d", layout, damage, next.Token, held.Token)
			}
			release(t, d, next)
		}
	}
}

// Leases whose contexts are used cost no goroutine each, and learn of their end by their renewals.
func TestForeignLeasesWithoutGoroutines(t *testing.T) {
	for _, layout := range foreignLayouts {
		srv := servers.Redis(t)
		client := holdfast.New(openForeign(t, srv.Addr, layout))
		lock := func(i int) *holdfast.Lease {
			l, err := client.Mutex(fmt.Sprint("job ", i), holdfast.WithTTL(3*time.Second)).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l.Revoked()
			return l
		}
		lock(-1)
		const leases = 100
		before := bubble.Goroutines()
		var last *holdfast.Lease
		for i := range leases {
			last = lock(i)
		}
		if more := bubble.Goroutines() - before; more > leases/4 {
			t.Errorf("%s: %d leases cost %d goroutines", layout, leases, more)
		}
		srv.RedisCommand(t, "FLUSHALL")
		select {
		case <-last.Done():
		case <-time.After(patience):
			t.Errorf("%s: a lease does not learn that it was lost", layout)
		}
		if err := last.Err(); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("%s: the lease ended with %v, want ErrLost", layout, err)
		}
		client.Close(t.Context())
	}
}

// The server of other libraries' locks is examined as ours is.
func TestCheckForeignLayout(t *testing.T) {
	for _, layout := range foreignLayouts {
		t.Run(string(layout), func(t *testing.T) {
			srv := servers.Redis(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
			findings, err := driver.Check(t.Context(), openForeign(t, srv.Addr, layout), false)
			if err != nil {
				t.Fatal(err)
			}
			if unsafe := facts(findings, driver.Unsafe); !strings.Contains(unsafe, "allkeys-lru") {
				t.Errorf("unsafe is %q, want the eviction", unsafe)
			}
			if warnings := facts(findings, driver.Warning); !strings.Contains(warnings, "appendonly") {
				t.Errorf("of warnings there are %q, want one of persistence", warnings)
			}
		})
	}
}

// facts are what was found of a level, in one line.
func facts(findings []driver.Finding, level driver.Level) string {
	var all []string
	for _, f := range findings {
		if f.Level == level {
			all = append(all, f.Fact+"; "+f.Advice)
		}
	}
	return strings.Join(all, "; ")
}

func openForeign(t testing.TB, addr string, layout redislock.Layout) claimed.Driver {
	t.Helper()
	return openAny(t, "redis://"+addr+"?layout="+string(layout))
}
