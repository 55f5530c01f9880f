package redlock

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A token was agreed on by two of three servers. One of the two restarts empty, the other cannot be reached: the third
// and the empty one are a majority, and know nothing of the token. Its guess at a token says nothing either, because
// the clock of whoever had the lock was five minutes ahead. The lock must stay closed until the third that knows comes
// back.
func TestEmptyServerCannotRepeatToken(t *testing.T) {
	for _, who := range []string{"a client that knows the servers", "a new client"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			c := start(t, 3, ttl)
			d := open(t, c.url())
			c.runAhead(t, "jobs", 5*time.Minute)
			c.servers[2].Pause(t)
			last := cycle(t, d, "jobs")
			c.servers[0].Kill(t)
			c.servers[0].RestartEmpty(t)
			c.servers[1].Pause(t)
			c.servers[2].Resume(t)
			mustLive(t, c.servers[0], ttl)

			if who == "a new client" {
				d = open(t, c.url())
			}
			for range 3 {
				st, err := d.Request(t.Context(), try(claim("jobs", ttl)))
				if err == nil && st.Granted {
					t.Fatalf("a server that forgot the token %d granted %d", last, st.Token)
				}
			}
			c.servers[1].Resume(t)
			next := claim("jobs", ttl)
			if st := await(t, d, next, driver.Status{}); st.Token <= last {
				t.Errorf("token %d after %d", st.Token, last)
			}
		})
	}
}

// A server that restarted does not vote for as long as a claim may live that it forgot, or it would give the lock away.
func TestEmptyServerKeepsOutOfIt(t *testing.T) {
	t.Parallel()
	c := start(t, 3, 2*ttl)
	d, other := open(t, c.url()), open(t, c.url())
	c.servers[2].Pause(t)
	held := claim("jobs", 2*ttl)
	sent := time.Now()
	acquire(t, d, held)
	d.Close() // nobody renews it, or asks further servers for it
	c.servers[0].Kill(t)
	c.servers[0].RestartEmpty(t)
	c.servers[2].Resume(t)
	tries := 0
	for ; ; tries++ {
		st, err := other.Request(t.Context(), try(claim("jobs", ttl)))
		if time.Since(sent) >= held.TTL {
			break
		}
		if err == nil && st.Granted {
			t.Fatalf("granted %v after another claim that lives for %v", time.Since(sent), held.TTL)
		}
		driver.Sleep(t.Context(), 50*time.Millisecond)
	}
	if tries < 5 {
		t.Skip("the machine stalled, so this run shows nothing")
	}
	next := claim("jobs", ttl)
	await(t, other, next, driver.Status{})
}

// Whichever servers of a minority restart empty, one after the other, again and again: tokens grow.
func TestTokensOutliveRestarts(t *testing.T) {
	t.Parallel()
	c := start(t, 3, time.Second)
	d := open(t, c.url())
	last := uint64(0)
	for i := range 6 {
		s := c.servers[i%3]
		s.Kill(t)
		s.RestartEmpty(t)
		short := claim("jobs", time.Second)
		st := await(t, d, short, driver.Status{})
		if st.Token <= last {
			t.Fatalf("token %d after %d", st.Token, last)
		}
		last = st.Token
		release(t, d, short)
		mustLive(t, s, time.Second)
		eventually(t, "the server that restarted takes part", func() bool {
			c := claim("jobs", time.Second)
			st, err := d.Request(t.Context(), c)
			last = max(last, st.Token)
			return err == nil && st.Granted && d.Release(t.Context(), c) == nil
		})
	}
}

// runAhead makes the tokens of a lock run ahead of the clock, as a client whose clock is wrong would.
func (c *cluster) runAhead(t testing.TB, name string, by time.Duration) {
	t.Helper()
	token := uint64(time.Now().Add(by).UnixMicro())
	for _, s := range c.servers {
		d := on(t, s)
		wrong := try(claim(name, ttl))
		if st, _, err := d.Propose(t.Context(), wrong, token); err != nil || st.Token != token {
			t.Fatalf("proposing a token of tomorrow: %+v, %v", st, err)
		}
		release(t, d, wrong)
	}
}

// mustLive waits until the server has lived for longer than that.
func mustLive(t testing.TB, s *servers.Server, than time.Duration) {
	t.Helper()
	eventually(t, "the server is old enough", func() bool {
		_, after, _ := strings.Cut(s.RedisCommand(t, "INFO", "server"), "uptime_in_seconds:")
		seconds, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(after, "\r\n", 2)[0]))
		return err == nil && time.Duration(seconds-2)*time.Second > than
	})
}

// A client whose clock is far ahead is refused, by name of the reason, before it pulls the tokens of a lock along.
func TestTokensFromTheFuture(t *testing.T) {
	t.Parallel()
	c := start(t, 3, ttl)
	d := on(t, c.servers[0])
	_, _, err := d.Propose(t.Context(), try(claim("jobs", ttl)), uint64(time.Now().Add(time.Hour).UnixMicro()))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "clock") {
		t.Errorf("proposing a token an hour ahead: %v", err)
	}
}
