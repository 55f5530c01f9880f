package redislock_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// Other clients lock a key with SET key value NX PX, and release it by comparing the value and deleting it.
const theirRelease = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

func TestOursExcludesTheirs(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?prefix=")
	for name, units := range map[string][2]int64{"mutex": {1, 1}, "reader": {1, driver.All}, "semaphore": {2, 5}} {
		c := claim(name, long)
		c.Weight, c.Limit = units[0], units[1]
		c = acquire(t, d, c)
		if got := srv.RedisCommand(t, "SET", name, "theirs", "NX", "PX", "1000"); got == "OK" {
			t.Errorf("%s: another client took the lock that we hold", name)
		}
		if got := srv.RedisCommand(t, "EVAL", theirRelease, "1", name, "theirs"); got != "0" {
			t.Errorf("%s: another client's release: %s", name, got)
		}
		release(t, d, c)
		if got := srv.RedisCommand(t, "SET", name, "theirs", "NX", "PX", "1000"); got != "OK" {
			t.Errorf("%s: another client cannot take the lock that we released: %s", name, got)
		}
	}
}

func TestPublishedForm(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?prefix=")
	c := acquire(t, d, claim("orders", long))
	if got := srv.RedisCommand(t, "GET", "orders"); got != c.ID {
		t.Errorf("the key holds %q, want the claim's ID %q", got, c.ID)
	}
	next := enqueue(t, d, claim("orders", 2*long))
	release(t, d, c)
	if got := srv.RedisCommand(t, "GET", "orders"); got != next.ID {
		t.Errorf("after the hand-off the key holds %q, want the next claim's ID %q", got, next.ID)
	}
}

func TestTheirsExcludesOurs(t *testing.T) {
	srv := servers.Redis(t)
	pace.Run(t, "their lock", func(t *pace.T) { theirsExcludesOurs(t, srv) })
}

func theirsExcludesOurs(t *pace.T, srv *servers.Server) {
	d := openAt(t, srv.Addr, "?prefix=")
	ttl := t.TTL(600 * time.Millisecond)
	srv.RedisCommand(t, "SET", "jobs", "theirs", "PX", strconv.FormatInt(ttl.Milliseconds(), 10))
	try := claim("jobs", long)
	try.Queue = false
	enqueue(t, d, try)
	first, st := request(t, d, claim("jobs", long))
	if st.Retry <= 0 || st.Retry > ttl {
		t.Errorf("the next in line is told to ask after %v, their lock lives for at most %v", st.Retry, ttl)
	}
	second, st := request(t, d, claim("jobs", long))
	if st.Granted || st.Retry != 0 {
		t.Errorf("the second in line is told to ask after %v", st.Retry)
	}
	queue, err := d.Queue(t.Context(), "jobs")
	if err != nil || len(queue) != 3 || queue[0].ID != redislock.ForeignID || !queue[0].Granted || queue[1].Granted {
		t.Errorf("the queue should begin with their lock: %+v, %v", queue, err)
	}
	for what, err := range map[string]error{
		"break":  d.Break(t.Context(), "jobs", redislock.ForeignID),
		"revoke": d.Revoke(t.Context(), "jobs", redislock.ForeignID),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s of their claim: %v", what, err)
		}
	}
	await(t, d, first)
	if got := srv.RedisCommand(t, "GET", "jobs"); got != first.ID {
		t.Errorf("the key holds %q, want %q", got, first.ID)
	}
	release(t, d, first)
	await(t, d, second)
	release(t, d, second)
}

// Their release says nothing to us.
func TestTheirReleaseIsFound(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?prefix=")
	srv.RedisCommand(t, "SET", "jobs", "theirs", "PX", "3600000")
	c := enqueue(t, d, claim("jobs", long))
	srv.RedisCommand(t, "EVAL", theirRelease, "1", "jobs", "theirs")
	if waited := await(t, d, c); waited > time.Minute {
		t.Errorf("found after %v", waited)
	}
}

// A holder whose key is deleted or replaced has lost the lock: it learns that, and the key is never written again for
// it.
func TestLostKey(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?prefix=")
	replace := func(name string) { srv.RedisCommand(t, "SET", name, "theirs", "PX", "60000") }
	remove := func(name string) { srv.RedisCommand(t, "DEL", name) }
	for name, tt := range map[string]struct {
		lose   func(string)
		weight int64
		queue  bool // somebody waits
		want   string
	}{
		"deleted":             {remove, driver.All, false, ""},
		"replaced":            {replace, driver.All, false, "theirs"},
		"deleted, a queue":    {remove, driver.All, true, "next"},
		"replaced, a queue":   {replace, driver.All, true, "theirs"},
		"reader, deleted":     {remove, 1, false, ""},
		"reader, replaced":    {replace, 1, false, "theirs"},
		"readers and a queue": {remove, 1, true, "next"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []string{"renewal", "release"} {
				lock := name + after
				c := claim(lock, long)
				c.Weight, c.Limit = tt.weight, driver.All
				c = acquire(t, d, c)
				next := claim(lock, long)
				next.Weight, next.Limit = driver.All, driver.All
				if tt.queue {
					next = enqueue(t, d, next)
				}
				tt.lose(lock)
				err := d.Release(context.Background(), c)
				if after == "renewal" {
					_, err = d.Request(context.Background(), c)
				}
				if !errors.Is(err, driver.ErrGone) {
					t.Errorf("%s after the loss: %v, want ErrGone", after, err)
				}
				want := tt.want
				switch want {
				case "next":
					want = next.ID
				case "":
					want = "-1" // how the test's client writes nil
				}
				if got := srv.RedisCommand(t, "GET", lock); got != want {
					t.Errorf("the key holds %q, want %q", got, want)
				}
			}
		})
	}
}

func TestLossIsPushed(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?prefix=")
	c := acquire(t, d, claim("jobs", long))
	next := enqueue(t, d, claim("jobs", long))
	lost := make(chan error, 1)
	go func() {
		_, err := d.Wait(context.Background(), c)
		lost <- err
	}()
	srv.RedisCommand(t, "DEL", "jobs")
	if _, st := request(t, d, next); !st.Granted {
		t.Errorf("the next in line is not granted: %+v", st)
	}
	if err := <-lost; !errors.Is(err, driver.ErrGone) {
		t.Errorf("the holder that waits learns %v, want ErrGone", err)
	}
}

// A value that another client has set is its lock, whatever it is.
func TestAnyValueIsALock(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	for _, value := range []string{"-", "~", "~shared", "", "0"} {
		srv.RedisCommand(t, "SET", "holdfast:{jobs}", value, "PX", "60000")
		for _, c := range []driver.Claim{claimed.Try(claim("jobs", long)), claim("jobs", long)} {
			if c, st := request(t, d, c); st.Granted {
				t.Errorf("granted beside %q", value)
			} else if c.Queue {
				release(t, d, c)
			}
		}
		srv.RedisCommand(t, "DEL", "holdfast:{jobs}")
	}
	release(t, d, acquire(t, d, claim("jobs", long)))
}
