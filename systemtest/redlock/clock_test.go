package redlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A server whose clock is set forward expires its claims at once. With the claim on all five servers a majority has two
// to spare. Clocks that are set back let claims live for longer than they should, which harms nobody who releases.
func TestClocksOfMinorityStep(t *testing.T) {
	t.Parallel()
	c, clocks := startWithClocks(t, 5)
	d, other := open(t, c.url()), open(t, c.url())
	held := claim("jobs", ttl)
	held = acquire(t, d, held)
	eventually(t, "all servers have the claim", func() bool {
		acquire(t, d, held)
		return c.having(t, "jobs") == 5
	})
	for i := range c.minority() {
		clocks[i].Set(t, time.Minute)
	}
	if n := c.having(t, "jobs"); n != 3 {
		t.Fatalf("%d servers have the claim after the clocks of two were set forward", n)
	}
	for range 5 {
		if st, err := other.Request(t.Context(), try(claim("jobs", ttl))); err == nil && st.Granted {
			t.Fatalf("granted to two, under the tokens %d and %d", held.Token, st.Token)
		}
		acquire(t, d, held)
	}
	for i := range c.minority() {
		clocks[i].Set(t, -time.Minute)
	}
	acquire(t, d, held)
	release(t, d, held)
	eventually(t, "no server has the claim", func() bool { return c.having(t, "jobs") == 0 })
	next := claim("jobs", ttl)
	if st := await(t, other, next, driver.Status{}); st.Token <= held.Token {
		t.Errorf("token %d after %d", st.Token, held.Token)
	}
}

// Where a minority's clocks are far ahead, whoever wants a lock gets it, though its own clock is behind that of the
// last holder. When the clocks are right again, the servers are good for as much as any.
func TestClocksOfMinorityAhead(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		c, clocks := startWithClocks(t, n)
		url, proxies := c.behind(t)
		for i, p := range proxies {
			if i < len(c.minority()) {
				clocks[i].Set(t, time.Hour)
			} else {
				p.Delay(20 * time.Millisecond) // so that the others answer first
			}
		}
		hadToken(t, c.servers, "jobs", time.Minute)
		d := open(t, url)
		for range 3 {
			c := try(claim("jobs", ttl))
			release(t, d, acquire(t, d, c))
		}
		for i := range c.minority() {
			clocks[i].Set(t, 0)
			c.servers[n-1-i].Pause(t)
		}
		await(t, d, claim("jobs", ttl), driver.Status{})
	}
}

// One server that knows a token of the far future keeps nobody from the lock, whatever the others answer meanwhile:
// that somebody else has it, or for a while nothing.
func TestTokenOfTheFarFuture(t *testing.T) {
	t.Parallel()
	c, clocks := startWithClocks(t, 3)
	clocks[0].Set(t, time.Hour)
	hadToken(t, c.servers[:1], "jobs", time.Hour)
	url, proxies := c.behind(t)
	for i, p := range proxies {
		p.Delay(time.Duration(1+i) * 20 * time.Millisecond)
	}
	d, rival := open(t, url), open(t, c.url())
	held := acquire(t, rival, claim("jobs", ttl))
	eventually(t, "all servers have the claim", func() bool {
		acquire(t, rival, held)
		return c.having(t, "jobs") == 3
	})
	for range 3 {
		if st, err := d.Request(t.Context(), try(claim("jobs", ttl))); err != nil || st.Granted {
			t.Errorf("a lock that is taken: %+v, %v", st, err)
		}
	}
	release(t, rival, held)
	acquireAndRelease(t, d)
	eventually(t, "no server has a claim any more", func() bool { return c.having(t, "jobs") == 0 })
	c.servers[2].Pause(t)
	if st, err := d.Request(t.Context(), try(claim("jobs", ttl))); err == nil {
		t.Errorf("with one server of three that can be used: %+v", st)
	}
	c.servers[2].Resume(t)
	acquireAndRelease(t, d)
}

// acquireAndRelease tries to get a lock until it does. No server may refuse it.
func acquireAndRelease(t testing.TB, d *drivertest.Facade) {
	t.Helper()
	eventually(t, "the lock is to be had", func() bool {
		c := try(claim("jobs", ttl))
		st, err := d.Request(t.Context(), c)
		if errors.Is(err, driver.ErrRefused) {
			t.Fatal(err)
		}
		if st.Granted {
			_ = d.Release(t.Context(), c) // it may have been lost
		}
		return st.Granted
	})
}

// hadToken lets servers know a token of a client whose clock is ahead.
func hadToken(t testing.TB, servers []*servers.Server, name string, ahead time.Duration) {
	t.Helper()
	token := uint64(time.Now().Add(ahead).UnixMicro())
	for _, s := range servers {
		d, had := on(t, s), try(claim(name, ttl))
		if st, _, err := d.Propose(t.Context(), had, token); err != nil || st.Token != token {
			t.Fatalf("proposing %d: %+v, %v", token, st, err)
		}
		had.Token = token
		release(t, d, had)
	}
}

// Whatever the clocks of servers do, tokens are unique and grow: 4 clients, while the clock of one server after the
// other is set to another time. Exclusion is lost now and then, because a claim that only just has its majority can
// spare none; that is what tokens are for.
func TestTokensWhateverTheClocks(t *testing.T) {
	t.Parallel()
	acquisitions := effort.Pick(500, 10_000)
	c, clocks := startWithClocks(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stepping, working sync.WaitGroup
	stepping.Go(func() {
		for ctx.Err() == nil {
			clocks[rand.IntN(5)].Set(t, time.Duration(rand.IntN(3)-1)*time.Minute)
			_ = driver.Sleep(ctx, time.Duration(rand.IntN(10))*time.Millisecond) // the loop looks at ctx
		}
	})
	var tokens tokens
	var left atomic.Int64
	left.Store(int64(acquisitions))
	for range 4 {
		d := open(t, c.url())
		working.Go(func() {
			for left.Add(-1) >= 0 && !t.Failed() {
				tokens.acquire(t, d)
			}
		})
	}
	working.Wait()
	cancel()
	stepping.Wait()
	t.Logf("%d acquisitions, %d of them while another believed to hold", acquisitions, tokens.overlaps.Load())
}

// tokens checks each token against those that were returned before it was asked for.
type tokens struct {
	mu       sync.Mutex
	seen     map[uint64]bool
	greatest uint64
	inside   atomic.Int64
	overlaps atomic.Int64
}

func (ts *tokens) acquire(t testing.TB, d *drivertest.Facade) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ts.mu.Lock()
	floor := ts.greatest
	ts.mu.Unlock()
	c := claim("jobs", ttl)
	st, err := follow(ctx, d, c, driver.Status{})
	for errors.Is(err, driver.ErrGone) { // it expired as it was granted
		c = claim("jobs", ttl)
		st, err = follow(ctx, d, c, driver.Status{})
	}
	if err != nil {
		t.Errorf("waiting for a claim: %v", err)
		return
	}
	if ts.inside.Add(1) > 1 {
		ts.overlaps.Add(1)
	}
	ts.mu.Lock()
	if ts.seen == nil {
		ts.seen = make(map[uint64]bool)
	}
	if ts.seen[st.Token] || st.Token <= floor {
		t.Errorf("token %d; %d was returned before it was asked for; given twice: %v",
			st.Token, floor, ts.seen[st.Token])
	}
	ts.seen[st.Token] = true
	ts.greatest = max(ts.greatest, st.Token)
	ts.mu.Unlock()
	_ = driver.Sleep(ctx, time.Millisecond) // a holder that does nothing meets nobody
	ts.inside.Add(-1)
	_ = d.Release(ctx, c) // it may have been lost
}
