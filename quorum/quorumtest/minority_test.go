package quorumtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// slowNode is the timeout of a node, as in the URLs of these tests.
const slowNode = time.Second

const (
	cycles = 20
	ttl    = 4 * time.Second // the longest that the servers of these tests know
)

// Whatever a minority of the servers does, nobody waits for it: no acquisition and no release takes as long as one node
// may take, and twenty of both take less than waiting five times for one node would.
func TestMinorityAway(t *testing.T) {
	faults := map[string]func(testing.TB, *servers.Server){
		"stopped": func(t testing.TB, s *servers.Server) { s.Pause(t) },
		"killed":  func(t testing.TB, s *servers.Server) { s.Kill(t) },
	}
	for _, n := range []int{3, 5} {
		for name, fault := range faults {
			t.Run(fmt.Sprintf("%d servers, %s", n, name), func(t *testing.T) {
				t.Parallel()
				c := startFresh(t, n, ttl)
				d := warm(t, c.url())
				for _, s := range c.minority() {
					fault(t, s)
				}
				timeCycles(t, d, 5*slowNode)
				timeCycles(t, open(t, c.url()), 5*slowNode) // which never reached them
			})
		}
	}
}

// Slow servers answer in time, but too late to be waited for. A claim that is held comes to be on them too.
func TestMinoritySlow(t *testing.T) {
	t.Parallel()
	c := startFresh(t, 5, ttl)
	url, proxies := c.behind(t)
	d := warm(t, url)
	for _, p := range proxies[:2] {
		p.Delay(slowNode / 4)
	}
	timeCycles(t, d, cycles*slowNode/8) // in both directions, acquire and release, it would be 8 times that
	held := claim("held", ttl)
	held = acquire(t, d, held)
	renewed := time.Now()
	eventually(t, "all servers have the claim", func() bool {
		if time.Since(renewed) > ttl/3 { // as a holder does; what is slow must be able to keep up
			acquire(t, d, held)
			renewed = time.Now()
		}
		return c.having(t, "held") == 5
	})
	release(t, d, held)
	eventually(t, "no server has the claim", func() bool { return c.having(t, "held") == 0 })
}

// A lock that was acquired while servers were away comes to be on them when they return, so that others may fail.
func TestTopUp(t *testing.T) {
	t.Parallel()
	c := start(t, 5, ttl)
	d := open(t, c.url())
	for _, s := range c.minority() {
		s.Kill(t)
	}
	held := acquire(t, d, claim("held", ttl))
	for _, s := range c.minority() {
		s.Restart(t)
	}
	eventually(t, "all servers have the claim", func() bool {
		acquire(t, d, held) // a renewal, which has a moment later those asked that do not have it
		return c.having(t, "held") == 5
	})
	for _, s := range c.servers[3:] {
		s.Kill(t)
	}
	acquire(t, d, held) // three of five servers have it
}

// While a majority is away nobody acquires, and nobody is told that somebody else has the lock.
func TestMajorityAway(t *testing.T) {
	t.Parallel()
	c := startFresh(t, 3, ttl)
	d := warm(t, c.url())
	for _, s := range c.servers[:2] {
		s.Pause(t)
	}
	tried := try(claim("away", ttl))
	st, err := d.Request(t.Context(), tried)
	if err == nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrGone) {
		t.Errorf("with one of three servers the answer is %+v, %v; it should be that nobody knows", st, err)
	}
	for _, s := range c.servers[:2] {
		s.Resume(t)
	}
	waiting := claim("away", ttl)
	await(t, d, waiting, driver.Status{})
	release(t, d, waiting)
}

// A client that was never answered leaves nothing behind when the servers can be reached again.
func TestUnansweredIsUndone(t *testing.T) {
	t.Parallel()
	c := startFresh(t, 3, ttl)
	url, proxies := c.behind(t)
	d := warm(t, url)
	each(proxies, (*proxy.Proxy).BlackHoleAnswers)
	ctx, cancel := context.WithTimeout(t.Context(), slowNode/2)
	defer cancel()
	lost := claim("lost", ttl)
	if st, err := d.Request(ctx, lost); err == nil {
		t.Errorf("nothing was answered, and yet: %+v", st)
	}
	eventually(t, "the requests arrived", func() bool { return c.having(t, "lost") > 0 })
	each(proxies, (*proxy.Proxy).Heal)
	eventually(t, "what was granted is given back", func() bool { return c.having(t, "lost") == 0 })
}

func each(proxies []*proxy.Proxy, do func(*proxy.Proxy)) {
	for _, p := range proxies {
		do(p)
	}
}

// having is how many of the servers that run have a claim on a lock.
func (c *cluster) having(t testing.TB, name string) int {
	t.Helper()
	n := 0
	for _, s := range c.servers {
		if s.Pid != 0 && s.RedisCommand(t, "EXISTS", "holdfast:{"+name+"}") == "1" {
			n++
		}
	}
	return n
}

// warm opens a client that has reached the servers.
func warm(t testing.TB, url string) driver.Driver {
	t.Helper()
	d := open(t, url)
	cycle(t, d, "warm")
	return d
}

func cycle(t testing.TB, d driver.Driver, name string) uint64 {
	t.Helper()
	held := acquire(t, d, claim(name, ttl))
	release(t, d, held)
	return held.Token
}

func timeCycles(t testing.TB, d driver.Driver, limit time.Duration) {
	t.Helper()
	began := time.Now()
	for range cycles {
		c := claim("minority", ttl)
		timeOne(t, "an acquisition", func() { acquire(t, d, c) })
		timeOne(t, "a release", func() { release(t, d, c) })
	}
	if took := time.Since(began); took > limit {
		t.Errorf("%d acquisitions and releases took %v: servers are waited for that nobody needs", cycles, took)
	}
}

func timeOne(t testing.TB, what string, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took > slowNode {
		t.Errorf("%s took %v, longer than one node may take", what, took)
	}
}
