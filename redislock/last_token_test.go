package redislock_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// Tokens grow though the server remembers nothing of a lock and its clock was set back, whatever grants it.
func TestTokensOfForgottenLocks(t *testing.T) {
	const name = "jobs"
	grants := map[string]func(t *testing.T, d *redislock.QueueDriver) uint64{
		"alone": func(t *testing.T, d *redislock.QueueDriver) uint64 {
			return acquire(t, d, claim(name, time.Second)).Token
		},
		"in a script with others": func(t *testing.T, d *redislock.QueueDriver) uint64 {
			return together(t, d, name, "another", "a third")[name]
		},
		"in a queue": func(t *testing.T, d *redislock.QueueDriver) uint64 {
			reader := claim(name, time.Second)
			reader.Weight, reader.Limit = 1, 2
			acquire(t, d, reader)
			reader.ID = driver.NewID()
			return acquire(t, d, reader).Token
		},
		"once it was watched": func(t *testing.T, d *redislock.QueueDriver) uint64 {
			if err := d.Release(t.Context(), claim(name, time.Second)); err == nil {
				t.Error("a claim is released that there was not")
			}
			return acquire(t, d, claim(name, time.Second)).Token
		},
	}
	for first, before := range grants {
		for second, after := range grants {
			t.Run(first+", then "+second, func(t *testing.T) {
				t.Parallel()
				clock := servers.NewClock(t)
				srv := servers.RedisAt(t, clock)
				d := openAt(t, srv.Addr, "?keep=1m")
				last := before(t, d)
				clock.Set(t, 10*time.Minute)
				eventually(t, "the lock is forgotten", func() bool {
					return srv.RedisCommand(t, "DBSIZE") == "2" // the last token of all, and the first
				})
				clock.Set(t, -time.Minute)
				if next := after(t, d); next <= last {
					t.Errorf("token %d after %d", next, last)
				}
			})
		}
	}
}

// together acquires locks in one batch, and returns their tokens.
func together(t *testing.T, d *redislock.QueueDriver, names ...string) map[string]uint64 {
	t.Helper()
	ops := make([]driver.Op, len(names))
	for i, name := range names {
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: claim(name, time.Second)}
	}
	var mu sync.Mutex
	tokens := make(map[string]uint64)
	d.Do(t.Context(), ops, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("%s: %+v, %v", names[i], r.Status, r.Err)
		}
		tokens[names[i]] = r.Status.Token
	})
	return tokens
}

// The last token of all locks is the greatest, also where one lock has a greater one than the clock.
func TestLastTokenIsTheGreatest(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	last := func() uint64 {
		n, err := strconv.ParseUint(srv.RedisCommand(t, "GET", "holdfast:"+lastTokenKey), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	clock.Set(t, time.Hour)
	early := acquire(t, d, claim("early", time.Second)).Token
	clock.Set(t, 0)
	for name, token := range together(t, d, "a", "b", "c") {
		if token <= early || token > last() {
			t.Errorf("%s has token %d; the one before was %d, and the last one is said to be %d",
				name, token, early, last())
		}
	}
}

// Where the server keeps no last token of all locks, that of each is remembered for an hour.
func TestTokensWithoutTheLastOfAll(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (srv *servers.Server, d *redislock.QueueDriver, key string){
		"denied": func(t *testing.T) (*servers.Server, *redislock.QueueDriver, string) {
			srv := servers.Redis(t)
			srv.RedisCommand(t, "ACL", "SETUSER", "u", "on", ">p", "~holdfast:{*", "&*", "+@all")
			return srv, openURL(t, "redis://u:p@"+srv.Addr), "holdfast:{jobs}:claims"
		},
		"something else": func(t *testing.T) (*servers.Server, *redislock.QueueDriver, string) {
			srv := servers.Redis(t)
			srv.RedisCommand(t, "LPUSH", "holdfast:"+lastTokenKey, "x")
			return srv, openAt(t, srv.Addr, ""), "holdfast:{jobs}:claims"
		},
		"without a prefix": func(t *testing.T) (*servers.Server, *redislock.QueueDriver, string) {
			srv := servers.Redis(t)
			return srv, openAt(t, srv.Addr, "?prefix="), "{jobs}:claims"
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv, d, key := open(t)
			kept := func(after string) {
				t.Helper()
				const hour = 3_600_000
				left := number(t, srv.RedisCommand(t, "PTTL", key))
				if left <= hour/2 || left > hour {
					t.Errorf("%s the lock is remembered for %d ms", after, left)
				}
			}
			held := acquire(t, d, claim("jobs", time.Second))
			kept("granted alone")
			acquire(t, d, held)
			kept("renewed")
			next := enqueue(t, d, claim("jobs", time.Second))
			release(t, d, held)
			await(t, d, next)
			release(t, d, next)
			kept("used in a queue")
		})
	}
}

// A lock that is held for long is remembered as well as one that is new, also behind others.
func TestLocksAreRememberedWhileTheyAreHeld(t *testing.T) {
	const ttl = 70 * time.Second // not so long that a claim says for how long it wants to be remembered
	for user, least := range map[string]time.Duration{"": 5 * time.Minute, "u:p@": 30 * time.Minute} {
		for _, holders := range []int{1, 2} {
			t.Run(fmt.Sprintf("%q, held %d times", user, holders), func(t *testing.T) {
				t.Parallel()
				clock := servers.NewClock(t)
				srv := servers.RedisAt(t, clock)
				srv.RedisCommand(t, "ACL", "SETUSER", "u", "on", ">p", "~holdfast:{*", "&*", "+@all")
				d := openURL(t, "redis://"+user+srv.Addr)
				held := make([]driver.Claim, holders)
				for i := range held {
					c := claim("jobs", ttl)
					c.Weight, c.Limit = 1, int64(holders)
					held[i] = acquire(t, d, c)
				}
				for ahead := time.Minute; ahead < 90*time.Minute; ahead += time.Minute {
					clock.Set(t, ahead)
					for _, c := range held {
						acquire(t, d, c)
					}
					left := number(t, srv.RedisCommand(t, "PTTL", "holdfast:{jobs}:claims"))
					if left := time.Duration(left) * time.Millisecond; left < least {
						t.Fatalf("after %v it is remembered for %v", ahead, left)
					}
				}
			})
		}
	}
}
