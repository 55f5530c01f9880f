package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// try does one operation of which the client says whether it was tried before.
func try(t testing.TB, d claimed.Driver, kind driver.Kind, try driver.Try, c driver.Claim) (r driver.Result) {
	t.Helper()
	d.Do(t.Context(), []driver.Op{{Kind: kind, Claim: c, Try: try}}, func(_ int, got driver.Result) { r = got })
	return r
}

// lone acquires a lone claim.
func lone(t testing.TB, d claimed.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	r := try(t, d, driver.OpRequest, driver.TryFirst, c)
	if r.Err != nil || !r.Status.Granted {
		t.Fatalf("a first request: %+v", r)
	}
	c.Token = r.Status.Token
	return c
}

// lockKey is the lock that the tests are about.
const lockKey = "holdfast:{jobs}"

// isLone reports whether the lock is a lone claim, of which nothing else is on the server.
func isLone(t *testing.T, srv *servers.Server, c driver.Claim) bool {
	t.Helper()
	keys := allKeys(t, srv)
	return len(keys) == 1 && keys[0] == lockKey && strings.Contains(srv.RedisCommand(t, "GET", lockKey), " "+c.ID+" ")
}

// written is how often a server has changed a key.
func written(t testing.TB, srv *servers.Server) string {
	t.Helper()
	_, rest, _ := strings.Cut(srv.RedisCommand(t, "INFO", "persistence"), "rdb_changes_since_last_save:")
	changes, _, _ := strings.Cut(rest, "\r")
	return changes
}

// A lone claim is one key, and leaves nothing. A cycle is six commands in two scripts.
func TestLoneClaim(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	for _, weight := range []int64{1, driver.All} {
		c := claim("jobs", long)
		c.Weight, c.Limit = weight, driver.All
		before := lone(t, d, c)
		if !isLone(t, srv, c) {
			t.Errorf("weight %d: there are the keys %q", weight, allKeys(t, srv))
		}
		longer := before
		longer.TTL = 2 * long
		if st, err := d.Request(t.Context(), longer); err != nil || st.Token != before.Token || st.Contended {
			t.Errorf("a renewal: %+v, %v", st, err)
		}
		left := number(t, srv.RedisCommand(t, "PTTL", lockKey))
		if left <= int(long.Milliseconds()) || !isLone(t, srv, c) {
			t.Errorf("after a renewal it lives for %d ms, and there are the keys %q", left, allKeys(t, srv))
		}
		release(t, d, longer)
		if keys := strings.Join(allKeys(t, srv), " "); keys != "" {
			t.Errorf("after the release there are the keys %q", keys)
		}
		c.ID = driver.NewID()
		srv.RedisCommand(t, "CONFIG", "RESETSTAT")
		after := lone(t, d, c)
		release(t, d, after)
		// Of a request HGET, TIME, SET with GET, and SET; of a release GET and DEL.
		if commands, scripts := scriptCalls(t, srv); commands > 6 || scripts != 2 {
			t.Errorf("a cycle took %d commands in %d scripts, want up to 6 in 2", commands, scripts)
		}
		if after.Token <= before.Token {
			t.Errorf("token %d after %d", after.Token, before.Token)
		}
	}
}

// Whatever another client does to a lone claim comes out as if the claim had been recorded from the beginning.
func TestOthersBesideALoneClaim(t *testing.T) {
	srv := servers.Redis(t)
	d, other := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	for name, row := range map[string]struct {
		do     func(t *testing.T, held driver.Claim) (fate error) // of the claim, when it is released
		unfold bool
	}{
		"a waiter": {unfold: true, do: func(t *testing.T, held driver.Claim) error {
			next := enqueue(t, other, claim("jobs", long))
			if st, err := d.Request(t.Context(), held); err != nil || !st.Contended || st.Token != held.Token {
				t.Errorf("a renewal: %+v, %v", st, err)
			}
			release(t, d, held)
			await(t, other, next)
			release(t, other, next)
			return nil
		}},
		"somebody who does not wait": {do: func(t *testing.T, held driver.Claim) error {
			c := claim("jobs", long)
			c.Queue = false
			before := written(t, srv)
			for _, try1 := range []driver.Try{driver.TryFirst, 0} {
				c.ID = driver.NewID()
				r := try(t, other, driver.OpRequest, try1, c)
				if r.Err != nil || r.Status.Granted || r.Status.Retry <= 0 || r.Status.Retry > long {
					t.Errorf("a try: %+v", r)
				}
			}
			if after := written(t, srv); after != before {
				t.Errorf("two tries that were refused wrote %s keys, and before it was %s", after, before)
			}
			return nil
		}},
		"a look": {do: func(t *testing.T, held driver.Claim) error {
			queue, err := other.Queue(t.Context(), "jobs")
			if err != nil || len(queue) != 1 || queue[0].ID != held.ID || !queue[0].Granted ||
				queue[0].Token != held.Token || queue[0].Owner != held.Owner || queue[0].Left > long ||
				time.Since(queue[0].Since).Abs() > time.Minute {
				t.Errorf("the queue is %+v, %v", queue, err)
			}
			var listed []string
			for name, err := range other.List(t.Context(), "") {
				if listed = append(listed, name); err != nil {
					t.Error(err)
				}
			}
			if strings.Join(listed, " ") != "jobs" {
				t.Errorf("listed: %q", listed)
			}
			return nil
		}},
		"a value": {do: func(t *testing.T, held driver.Claim) error {
			v := driver.Value{Token: held.Token, Set: time.Now(), Text: "x"}
			if err := other.SetValue(t.Context(), held, v); err != nil {
				t.Error(err)
			}
			srv.RedisCommand(t, "DEL", lockKey+":value")
			return nil
		}},
		"a break": {unfold: true, do: func(t *testing.T, held driver.Claim) error {
			if err := other.Break(t.Context(), "jobs", held.ID); err != nil {
				t.Error(err)
			}
			return driver.ErrGone
		}},
		"a revocation": {unfold: true, do: func(t *testing.T, held driver.Claim) error {
			if err := other.Revoke(t.Context(), "jobs", held.ID); err != nil {
				t.Error(err)
			}
			if st, err := d.Request(t.Context(), held); err != nil || !st.Revoked || !st.Granted {
				t.Errorf("a renewal: %+v, %v", st, err)
			}
			return nil
		}},
		"a vote": {unfold: true, do: func(t *testing.T, held driver.Claim) error {
			c := claim("jobs", long)
			if st, _, err := other.Propose(t.Context(), c, held.Token+1); err != nil || st.Granted {
				t.Errorf("a vote: %+v, %v", st, err)
			}
			return nil
		}},
		"an undo of another claim": {unfold: true, do: func(t *testing.T, held driver.Claim) error {
			late := claim("jobs", long)
			if err := other.Release(t.Context(), late); !errors.Is(err, driver.ErrGone) {
				t.Errorf("an undo: %v", err)
			}
			release(t, d, held)
			if r := try(t, other, driver.OpRequest, driver.TryFirst, late); !errors.Is(r.Err, driver.ErrGone) {
				t.Errorf("a first request that comes after its undo: %+v", r)
			}
			return nil
		}},
		"detaching": {do: func(t *testing.T, held driver.Claim) error {
			alone := held
			alone.Detached = true
			if st, err := d.Request(t.Context(), alone); err != nil || !st.Granted {
				t.Errorf("detaching: %+v, %v", st, err)
			}
			if st, err := d.Request(t.Context(), held); err != nil || st.Token != held.Token {
				t.Errorf("a request that was sent before: %+v, %v", st, err)
			}
			return nil
		}, unfold: true},
		"the wrong token": {do: func(t *testing.T, held driver.Claim) error {
			wrong := held
			wrong.Token++
			if err := d.Release(t.Context(), wrong); !errors.Is(err, driver.ErrGone) {
				t.Errorf("a release: %v", err)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			srv.RedisCommand(t, "FLUSHALL")
			held := lone(t, d, claim("jobs", long))
			fate := row.do(t, held)
			if exists := srv.RedisCommand(t, "EXISTS", lockKey+":claims") == "1"; exists != row.unfold {
				t.Errorf("the claim is written as others are: %v", exists)
			}
			for _, try1 := range []driver.Try{driver.TryFirst, driver.TryAgain} {
				err := try(t, d, driver.OpRelease, try1, held).Err
				if errors.Is(err, driver.ErrUnknown) && try1 == driver.TryAgain {
					err = nil // see TestReleasedAgain
				}
				if !errors.Is(err, fate) {
					t.Errorf("try %d: the release says %v, want %v", try1, err, fate)
				}
			}
			mustBeFree(t, other, "jobs")
			release(t, other, acquire(t, other, claim("jobs", long)))
		})
	}
}

// A release that finds nothing says that the claim is gone, if it is the first; otherwise nobody knows.
func TestReleasedAgain(t *testing.T) {
	srv := servers.Redis(t)
	d, other := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	held := lone(t, d, claim("jobs", long))
	release(t, d, held)
	for _, meanwhile := range []func(){
		func() {},
		func() { lone(t, other, claim("jobs", long)) },
		func() { enqueue(t, other, claim("jobs", long)) },
	} {
		meanwhile()
		if err := try(t, d, driver.OpRelease, driver.TryAgain, held).Err; !errors.Is(err, driver.ErrUnknown) {
			t.Errorf("released again: %v", err)
		}
		if err := d.Release(t.Context(), held); !errors.Is(err, driver.ErrGone) {
			t.Errorf("released as if for the first time: %v", err)
		}
	}
}

// A server that has lost its data knows that the claim was not released, whoever has the lock since.
func TestReleasedAgainAfterALoss(t *testing.T) {
	srv := servers.Redis(t)
	d, other := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	held := lone(t, d, claim("jobs", long))
	for _, meanwhile := range []func(){
		func() { srv.RedisCommand(t, "FLUSHALL") },
		func() { lone(t, other, claim("jobs", long)) },
		func() { enqueue(t, other, claim("jobs", long)) },
	} {
		meanwhile()
		if err := try(t, d, driver.OpRelease, driver.TryAgain, held).Err; !errors.Is(err, driver.ErrGone) {
			t.Errorf("released again: %v", err)
		}
	}
}

// A user who may not unfold a lone claim does it no harm.
func TestLoneClaimBesideADeniedUser(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	for _, command := range []string{"hget", "hset", "pexpire", "zadd"} {
		srv.RedisCommand(t, "FLUSHALL")
		srv.RedisCommand(t, "ACL", "SETUSER", "denied", "reset", "on", ">secret", "~*", "&*", "+@all", "-"+command)
		denied := openURL(t, "redis://denied:secret@"+srv.Addr)
		held := lone(t, d, claim("jobs", long))
		if r := try(t, denied, driver.OpRequest, driver.TryFirst, claim("jobs", long)); r.Err == nil {
			t.Errorf("without %s: %+v", command, r)
		}
		if st, err := d.Request(t.Context(), held); err != nil || st.Token != held.Token {
			t.Errorf("a renewal beside a user without %s: %+v, %v", command, st, err)
		}
		release(t, d, held)
	}
}

// A last token that no server can have given is taken for none.
func TestDamagedLastToken(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	for _, bad := range []string{"9007199254740992", "9999999999999999", "1", "x"} {
		srv.RedisCommand(t, "SET", "holdfast:"+lastTokenKey, bad)
		first, second := lone(t, d, claim("jobs", long)), lone(t, d, claim("more", long))
		if first.Token >= second.Token || second.Token > 1<<53 {
			t.Errorf("after %s the tokens are %d and %d", bad, first.Token, second.Token)
		}
		release(t, d, first)
		release(t, d, second)
	}
}

// A claim that was asked for again is recorded: a copy of its request that comes after its end gets nothing, not even
// the first.
func TestLoneClaimAskedForAgain(t *testing.T) {
	srv := servers.Redis(t)
	d, other := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	for name, ask := range map[string]func(c driver.Claim) driver.Claim{
		"answered twice": func(c driver.Claim) driver.Claim {
			held := lone(t, d, c)
			if again := acquire(t, d, c); again.Token != held.Token {
				t.Errorf("the tokens %d and %d", held.Token, again.Token)
			}
			return held
		},
		"the first is late": func(c driver.Claim) driver.Claim { return acquire(t, d, c) },
		"undone": func(c driver.Claim) driver.Claim {
			held := lone(t, d, c)
			held.Token = 0
			return held
		},
	} {
		srv.RedisCommand(t, "FLUSHALL")
		c := claim("jobs", long)
		release(t, d, ask(c))
		for _, try1 := range []driver.Try{driver.TryFirst, 0} {
			if r := try(t, d, driver.OpRequest, try1, c); !errors.Is(r.Err, driver.ErrGone) {
				t.Errorf("%s: a late copy: %+v", name, r)
			}
		}
		mustBeFree(t, other, "jobs")
	}
}

// A lone claim ends with its TTL, and a clock that is set back lets it live for no longer than another one would,
// once somebody waits.
func TestLoneClaimExpires(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d, other := openAt(t, srv.Addr, ""), openAt(t, srv.Addr, "")
	held := lone(t, d, claim("jobs", brief))
	clock.Set(t, time.Minute)
	next := lone(t, other, claim("jobs", brief))
	if next.Token <= held.Token {
		t.Errorf("token %d after %d", next.Token, held.Token)
	}
	if _, err := d.Request(t.Context(), held); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the renewal of an expired claim: %v", err)
	}
	clock.Set(t, -time.Hour)
	enqueue(t, d, claim("jobs", brief))
	if left := number(t, srv.RedisCommand(t, "PTTL", lockKey)); left > int(brief.Milliseconds()) {
		t.Errorf("with an hour that came back the key lives for %d ms", left)
	}
}

// Where there is no last token of all locks, claims are recorded as others are.
func TestNoLoneClaims(t *testing.T) {
	srv := servers.Redis(t)
	for name, d := range map[string]claimed.Driver{
		"without a prefix": openAt(t, srv.Addr, "?prefix="),
		"a denied key":     openAt(t, srv.Addr, ""),
	} {
		srv.RedisCommand(t, "FLUSHALL")
		srv.RedisCommand(t, "LPUSH", "holdfast:"+lastTokenKey, "x")
		lone(t, d, claim("jobs", long))
		if n := len(allKeys(t, srv)); n != 2 {
			t.Errorf("%s: there are the keys %q", name, allKeys(t, srv))
		}
	}
}
