package redislock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// brief is for claims that end when their server's clock is a minute ahead.
const brief = 20 * time.Second

// A clock that is set forward ends all claims, so two believe to hold the lock: the second has a greater token, and
// the first learns of its loss when it renews.
func TestServerClockSetForward(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	first, second := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	held := acquire(t, first, claim("jobs", brief))
	clock.Set(t, time.Minute)
	next := acquire(t, second, claim("jobs", brief))
	if next.Token <= held.Token {
		t.Errorf("token %d after %d", next.Token, held.Token)
	}
	if _, err := first.Request(t.Context(), held); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the first holder is told %v, want ErrGone", err)
	}
	release(t, second, next)
}

// A clock that is set back lets claims live for too long, and tokens from the clock would be smaller: they go on from
// the last one.
func TestServerClockSetBack(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	held := acquire(t, d, claim("jobs", brief))
	next := enqueue(t, d, claim("jobs", brief))
	clock.Set(t, -time.Minute)
	if held.Token != acquire(t, d, held).Token {
		t.Error("a renewal changed the token")
	}
	release(t, d, held)
	await(t, d, next)
	release(t, d, next)
	if last := acquire(t, d, claim("jobs", brief)); last.Token <= next.Token || next.Token <= held.Token {
		t.Errorf("tokens %d, %d, %d", held.Token, next.Token, last.Token)
	}
}

// Who watched a lock, and is gone, is forgotten though the clock was set back meanwhile.
func TestWatchersBeforeTheClockWasSetBack(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	watched := func() (by int) {
		d := openAt(t, srv.Addr, "")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		before := srv.RedisCommand(t, "HGET", "holdfast:{jobs}:claims", "~")
		watching := make(chan error)
		go func() { watching <- d.Watch(ctx, "jobs") }()
		eventually(t, "it is watched", func() bool {
			state := srv.RedisCommand(t, "HGET", "holdfast:{jobs}:claims", "~")
			by = strings.Count(state, "=")
			return state != before
		})
		cancel()
		<-watching
		return by
	}
	clock.Set(t, time.Hour)
	watched()
	clock.Set(t, 0)
	if n := watched(); n != 2 {
		t.Errorf("%d watch, not 2", n)
	}
	clock.Set(t, time.Minute)
	if n := watched(); n != 1 {
		t.Errorf("%d watch a minute later, not the last one alone", n)
	}
}

// A server whose clock was set to before its start has not run for any time, and votes all the same.
func TestVoteFromBeforeTheStart(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	clock.Set(t, -time.Minute)
	eventually(t, "the server has looked at its clock", func() bool {
		st, life, err := d.Propose(t.Context(), claim("jobs", brief), uint64(time.Now().UnixMicro()))
		if err != nil || !st.Granted || life.ID == "" {
			t.Fatalf("%+v, %+v, %v", st, life, err)
		}
		return life.Age == 0
	})
}

// A token that a quorum is told to outbid is no more than it must be: the other servers' clocks may be far behind.
func TestProposalIgnoresTheClock(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	clock.Set(t, time.Hour)
	for _, token := range []uint64{1_000_000, 999_999, 1_000_000} {
		c := claim("jobs", brief)
		st, _, err := d.Propose(t.Context(), c, token)
		if err != nil || !st.Granted || st.Token > 1_000_010 {
			t.Fatalf("proposing %d: %+v, %v", token, st, err)
		}
		c.Token = st.Token
		release(t, d, c)
	}
}

// Redis tells its replicas when a claim ends, not for how long it lives. So one whose clock is ahead ends it early
// when it becomes master, and one whose clock is behind ends it late. Tokens go on from the last one on either.
func TestReplicaWithAnotherClock(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"ahead": time.Minute, "behind": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			clock := servers.NewClock(t)
			master, replica := servers.Redis(t, "--repl-diskless-sync-delay", "0"), servers.RedisAt(t, clock)
			clock.Set(t, ahead)
			replica.Follow(t, master)
			held := acquire(t, openAt(t, master.Addr, "?replicas=1&replicaswithin=1m"), claim("jobs", brief))
			master.Kill(t)
			replica.RedisCommand(t, "REPLICAOF", "NO", "ONE")

			d := openAt(t, replica.Addr, "")
			next, st := request(t, d, claim("jobs", brief))
			if st.Granted != (ahead > 0) || next.Token <= held.Token {
				t.Errorf("after the token %d the next in line is told %+v", held.Token, st)
			}
			if st.Granted {
				return
			}
			release(t, d, held)
			await(t, d, next)
		})
	}
}

// When the clock is set back, a deadline that it had promised before lies far ahead. Nobody who still lives has such
// a one for long, so whoever asks has it brought back: the dead block nobody for longer than their TTL.
func TestDeadWhenTheClockIsSetBack(t *testing.T) {
	const ttl, back = 20 * time.Second, -10 * time.Minute
	reader, writer := claim("", ttl), claim("", ttl)
	reader.Limit, writer.Weight, writer.Limit = driver.All, driver.All, driver.All
	try, mutex := claim("", ttl), claim("", ttl)
	try.Queue = false
	for name, tt := range map[string]struct {
		dead []driver.Claim
		next driver.Claim
	}{
		"a holder, and a waiter":    {[]driver.Claim{mutex}, mutex},
		"a holder, and an attempt":  {[]driver.Claim{mutex}, try},
		"a reader, and an attempt":  {[]driver.Claim{reader}, try},
		"a line, and a waiter":      {[]driver.Claim{mutex, mutex, mutex, mutex}, mutex},
		"readers, and a writer":     {[]driver.Claim{reader, reader, reader}, writer},
		"readers, and an attempt":   {[]driver.Claim{reader, writer, reader}, try},
		"a writer, and its readers": {[]driver.Claim{writer, reader, reader}, writer},
	} {
		t.Run(name, func(t *testing.T) {
			clock := servers.NewClock(t)
			srv := servers.RedisAt(t, clock)
			d := openAt(t, srv.Addr, "")
			named := func(c driver.Claim) driver.Claim {
				c.Name, c.ID = "jobs", claim("", ttl).ID
				return c
			}
			for _, c := range tt.dead {
				request(t, d, named(c))
			}
			clock.Set(t, back)
			next := enqueue(t, d, named(tt.next))
			for passed := ttl / 2; passed <= ttl; passed += ttl / 2 {
				clock.Set(t, back+passed+time.Second)
				next, _ = request(t, d, next)
			}
			if _, st := request(t, d, next); !st.Granted {
				t.Errorf("a TTL later: %+v", st)
			}
		})
	}
}

// Another node of a quorum gets its answer just as soon.
func TestVoteWhenTheClockIsSetBack(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	const ttl, back = 20 * time.Second, -time.Minute
	acquire(t, d, claim("jobs", ttl))
	clock.Set(t, back)
	c := claim("jobs", ttl)
	for _, passed := range []time.Duration{0, ttl + time.Second} {
		clock.Set(t, back+passed)
		st, _, err := d.Propose(t.Context(), c, uint64(time.Now().UnixMicro()))
		if granted := passed > 0; err != nil || st.Granted != granted {
			t.Errorf("after %v: %+v, %v", passed, st, err)
		}
	}
}

// A value that was removed stays so for a TTL, though a copy of the request comes late that had set it, and locks that
// nobody uses are remembered for less.
func TestRemovedValueStaysRemoved(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "?keep=1m")
	held := acquire(t, d, claim("jobs", 10*time.Minute))
	value := driver.Value{Text: "old", Token: held.Token, Set: time.Now()}
	removed := value
	removed.Text, removed.Set = "", value.Set.Add(time.Second)
	for _, v := range []driver.Value{value, removed} {
		if err := d.SetValue(t.Context(), held, v); err != nil {
			t.Fatal(err)
		}
	}
	clock.Set(t, 2*time.Minute)
	if err := d.SetValue(t.Context(), held, value); !errors.Is(err, driver.ErrOlderValue) {
		t.Errorf("the late copy is told %v, want ErrOlderValue", err)
	}
	if v, err := d.Value(t.Context(), "jobs"); err != nil || v.Text != "" {
		t.Errorf("the value that was removed is %q again, %v", v.Text, err)
	}
}

// A claim that was released before its request arrived stays barred for a TTL, though locks that nobody uses are
// remembered for less.
func TestReleasedBeforeItsRequestWithAShortKeep(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "?keep=1m")
	c := claim("jobs", 10*time.Minute)
	if err := d.Release(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Fatalf("Release: %v, want ErrGone", err)
	}
	clock.Set(t, 9*time.Minute)
	if st, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the late request is told %+v, %v; want ErrGone", st, err)
	}
	mustBeFree(t, d, "jobs")
}

// A key that somebody restored without its end keeps nobody out when its holder is dead, also who would not wait.
func TestKeyWithoutAnEnd(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openAt(t, srv.Addr, "")
	for name, ask := range map[string]func(driver.Claim) (driver.Status, error){
		"tried": func(c driver.Claim) (driver.Status, error) { return d.Request(t.Context(), c) },
		"proposed": func(c driver.Claim) (driver.Status, error) {
			st, _, err := d.Propose(t.Context(), c, 1)
			return st, err
		},
	} {
		clock.Set(t, 0)
		acquire(t, d, claim(name, brief))
		srv.RedisCommand(t, "PERSIST", "holdfast:{"+name+"}")
		next := claim(name, brief)
		next.Queue = false
		if st, err := ask(next); err != nil || st.Granted || st.Retry <= 0 || st.Retry > brief {
			t.Errorf("%s: beside the holder: %+v, %v; want to ask again within its TTL", name, st, err)
		}
		clock.Set(t, time.Minute)
		next.ID = claim(name, brief).ID
		if st, err := ask(next); err != nil || !st.Granted {
			t.Errorf("%s: when the holder is dead: %+v, %v; want a grant", name, st, err)
		}
	}
}
