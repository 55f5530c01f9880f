package redislock_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// An answer after which asking again cannot help wraps ErrRefused and says what to do; no error shows a password.
func TestRefusals(t *testing.T) {
	srv := servers.Redis(t, "--requirepass", "s3cret")
	auth := func(args ...string) {
		admin := rawClientAs(t, srv.Addr, "s3cret")
		if err := admin.Do(t.Context(), admin.B().Arbitrary(args...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	auth("ACL", "SETUSER", "guest", "on", ">gu3st", "~other:*", "&*", "+@all")
	auth("ACL", "SETUSER", "deaf", "on", ">d3af", "~*", "resetchannels", "+@all")
	auth("ACL", "SETUSER", "idle", "on", ">1dle", "~*", "&*", "+@all", "-set")
	auth("RPUSH", "holdfast:{list}", "x")
	for name, tt := range map[string]struct{ url, lock, want string }{
		"no password":    {"redis://" + srv.Addr, "a", "give a user and a password"},
		"wrong password": {"redis://:wr0ng@" + srv.Addr, "a", "check the user"},
		"no database":    {"redis://:s3cret@" + srv.Addr + "/999", "a", "database"},
		"forbidden key":  {"redis://guest:gu3st@" + srv.Addr, "a", "prefix"},
		"no channel":     {"redis://deaf:d3af@" + srv.Addr, "a", "channels"},
		"no command":     {"redis://idle:1dle@" + srv.Addr, "a", "the commands of the scripts"},
		"another type":   {"redis://:s3cret@" + srv.Addr, "list", "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := drivertest.Open(t.Context(), tt.url)
			if err == nil {
				t.Cleanup(func() { d.Close() })
				_, err = d.Request(t.Context(), claim(tt.lock, long))
			}
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want ErrRefused that says %q", err, tt.want)
			}
			for _, secret := range []string{"s3cret", "gu3st", "d3af", "1dle", "wr0ng"} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows a password: %v", err)
				}
			}
		})
	}
}

// A script whose user lacks a permission may have done its work before it is ended. A request that is refused like that
// holds no lock, and a lock that was released counts as released.
func TestDeniedInScript(t *testing.T) {
	srv := servers.Redis(t)
	srv.RedisCommand(t, "ACL", "SETUSER", "mute", "on", ">pw", "~*", "&*", "+@all", "-publish")
	srv.RedisCommand(t, "ACL", "SETUSER", "timeless", "on", ">pw", "~*", "&*", "+@all", "-pexpire")
	d := openAt(t, srv.Addr, "")
	t.Run("request", func(t *testing.T) {
		timeless := openURL(t, "redis://timeless:pw@"+srv.Addr)
		if _, err := timeless.Request(t.Context(), claim("jobs", long)); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("got %v, want ErrRefused", err)
		}
		release(t, d, acquire(t, d, claim("jobs", long)))
	})
	t.Run("release", func(t *testing.T) {
		mute := openURL(t, "redis://mute:pw@"+srv.Addr)
		held := acquire(t, mute, claim("mails", long))
		next := enqueue(t, d, claim("mails", long))
		if err := mute.Release(t.Context(), held); err != nil {
			t.Errorf("Release: %v; the lock is free", err)
		}
		if _, st := request(t, d, next); !st.Granted {
			t.Error("the next in line does not have the lock")
		}
	})
}

// A refused request leaves nothing behind.
func TestRefusedChangesNothing(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", long))
	srv.RedisCommand(t, "DEL", "holdfast:{jobs}")
	srv.RedisCommand(t, "RPUSH", "holdfast:{jobs}", "x")
	before := srv.RedisCommand(t, "HGETALL", "holdfast:{jobs}:claims")
	for range 2 {
		if _, err := d.Request(t.Context(), claim("jobs", long)); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("a request: %v", err)
		}
		if _, err := d.Request(t.Context(), held); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("a renewal: %v", err)
		}
	}
	if after := srv.RedisCommand(t, "HGETALL", "holdfast:{jobs}:claims"); after != before {
		t.Errorf("the claims were\n%s\nand are\n%s", before, after)
	}
	if keys := allKeys(t, srv); len(keys) != 2 {
		t.Errorf("keys: %q", keys)
	}
}

func TestCheck(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	worst := func() (worst driver.Finding) {
		t.Helper()
		findings, err := d.Check(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Fact == "" || f.Level != driver.Fine && f.Advice == "" {
				t.Errorf("a finding should say what is so and what to do: %+v", f)
			}
			if f.Level > worst.Level {
				worst = f
			}
		}
		return worst
	}
	if f := worst(); f.Level != driver.Warning || !strings.Contains(f.Fact, "appendonly") {
		t.Errorf("without persistence: %+v", f)
	}
	srv.RedisCommand(t, "CONFIG", "SET", "appendonly", "yes")
	srv.RedisCommand(t, "CONFIG", "SET", "appendfsync", "always")
	if f := worst(); f.Level != driver.Fine {
		t.Errorf("with all as it should be: %+v", f)
	}
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "100mb")
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory-policy", "volatile-lru")
	if f := worst(); f.Level != driver.Unsafe || !strings.Contains(f.Fact, "volatile-lru") {
		t.Errorf("with eviction: %+v", f)
	}
	primary := servers.Redis(t)
	host, port, _ := net.SplitHostPort(primary.Addr)
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	srv.RedisCommand(t, "REPLICAOF", host, port)
	if f := worst(); f.Level != driver.Unsafe || !strings.Contains(f.Fact, "replica") {
		t.Errorf("on a replica: %+v", f)
	}
	// A replica may become the primary, as in a failover behind one address, so that is no answer.
	_, err := d.Request(t.Context(), claim("jobs", long))
	if err == nil || errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "replica") {
		t.Errorf("a request to a replica: %v, want an error that says so, after which one may ask again", err)
	}
}

// A user who may not listen takes a free lock, and can wait for none: the examination tells. What it may not do is
// named.
func TestCheckOfDeafUser(t *testing.T) {
	srv := servers.Redis(t)
	srv.RedisCommand(t, "ACL", "SETUSER", "nochan", "on", ">pw", "~*", "resetchannels", "&other", "+@all")
	srv.RedisCommand(t, "ACL", "SETUSER", "nocommand", "on", ">pw", "~*", "&*", "+@all", "-subscribe", "-blpop")
	for name, tt := range map[string]struct{ url, want string }{
		"no channel":                    {"redis://nochan:pw@" + srv.Addr, "channels"},
		"no SUBSCRIBE":                  {"redis://nocommand:pw@" + srv.Addr, "'subscribe'"},
		"no channel, Redisson":          {"redis://nochan:pw@" + srv.Addr + "?layout=redisson", "channels"},
		"no SUBSCRIBE, Redisson":        {"redis://nocommand:pw@" + srv.Addr + "?layout=redisson", "'subscribe'"},
		"no BLPOP, python-redis-lock":   {"redis://nocommand:pw@" + srv.Addr + "?layout=python-redis-lock", "'blpop'"},
		"it needs no channel":           {"redis://nochan:pw@" + srv.Addr + "?layout=python-redis-lock", ""},
		"one that may do all: native":   {"redis://" + srv.Addr, ""},
		"one that may do all: Redisson": {"redis://" + srv.Addr + "?layout=redisson", ""},
	} {
		t.Run(name, func(t *testing.T) {
			findings, err := driver.Check(t.Context(), openAny(t, tt.url), false)
			if err != nil {
				t.Fatal(err)
			}
			unsafe := facts(findings, driver.Unsafe)
			if (unsafe == "") != (tt.want == "") || !strings.Contains(unsafe, tt.want) {
				t.Errorf("unsafe is %q, want %q", unsafe, tt.want)
			}
		})
	}
}
