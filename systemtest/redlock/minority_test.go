package redlock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// slowNode is the timeout of a node in the URLs of these tests, or half of the longest TTL where that is less.
const slowNode = 4 * time.Second

const (
	cycles = 20
	ttl    = 4 * time.Second // the longest that the servers of most tests know
)

// Whatever a minority of the servers does, nobody waits for it. TestMinorityIsNotWaitedFor of package quorum says so of
// each single request, in virtual time.
func TestMinorityAway(t *testing.T) {
	faults := map[string]func(testing.TB, *servers.Server){
		"stopped": func(t testing.TB, s *servers.Server) { s.Pause(t) },
		"killed":  func(t testing.TB, s *servers.Server) { s.Kill(t) },
	}
	for _, n := range []int{3, 5} {
		for name, fault := range faults {
			t.Run(fmt.Sprintf("%d servers, %s", n, name), func(t *testing.T) {
				t.Parallel()
				c := startFresh(t, n, 2*slowNode)
				d := warm(t, c.url())
				for _, s := range c.minority() {
					fault(t, s)
				}
				const givingUp = ttl / 4 // at the earliest, of requests to who does not answer
				timeCycles(t, d, givingUp)
				timeCycles(t, open(t, c.url()), givingUp) // which never reached them
			})
		}
	}
}

// Slow servers answer in time, but too late to be waited for. A claim that is held comes to be on them too.
func TestMinoritySlow(t *testing.T) {
	t.Parallel()
	c := startFresh(t, 5, 2*slowNode)
	url, proxies := c.behind(t)
	d := warm(t, url)
	for _, p := range proxies[:2] {
		p.Delay(slowNode / 10)
	}
	timeCycles(t, d, 2*slowNode/10) // in both directions
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
	ctx, cancel := context.WithTimeout(t.Context(), ttl/8)
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
func warm(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	d := open(t, url)
	cycle(t, d, "warm")
	return d
}

func cycle(t testing.TB, d *drivertest.Facade, name string) uint64 {
	t.Helper()
	held := acquire(t, d, claim(name, ttl))
	release(t, d, held)
	return held.Token
}

// timeCycles has most acquisitions, and most releases, take less than those that wait for the minority take at least.
func timeCycles(t *testing.T, d *drivertest.Facade, waiting time.Duration) {
	t.Helper()
	pace.Run(t, "cycles", func(t *pace.T) {
		t.Margin(waiting / 4)
		cyclesWithin(t, d, t.Scaled(waiting))
	})
}

func cyclesWithin(t *pace.T, d *drivertest.Facade, waiting time.Duration) {
	slow := make(map[string]int)
	count := func(what string, do func()) {
		began := time.Now()
		do()
		if time.Since(began) < waiting {
			return
		}
		if slow[what]++; slow[what] > cycles/2 {
			t.Fatalf("most %s took %v at least: servers are waited for that nobody needs", what, waiting)
		}
	}
	for range cycles {
		c := claim("minority", ttl)
		count("acquisitions", func() { acquire(t.T, d, c) }) // that these take long is no stall of the machine
		count("releases", func() { release(t.T, d, c) })
	}
}
