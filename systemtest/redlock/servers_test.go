package redlock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
)

// A cluster is several Redis servers that know nothing of each other.
type cluster struct {
	servers []*servers.Server
	maxTTL  time.Duration
	fresh   bool // no server is restarted, so all may vote from the beginning
}

// start starts so many servers, and waits until they have lived for long enough to vote. maxTTL is the longest TTL.
func start(t testing.TB, n int, maxTTL time.Duration) *cluster {
	t.Helper()
	c := &cluster{servers: make([]*servers.Server, n), maxTTL: maxTTL}
	for i := range c.servers {
		c.servers[i] = servers.Redis(t)
	}
	c.settle(t, c.url())
	return c
}

// startFresh is start for who restarts no server: they have forgotten nothing, so nobody has to wait until they are
// old.
func startFresh(t testing.TB, n int, maxTTL time.Duration) *cluster {
	t.Helper()
	c := &cluster{servers: make([]*servers.Server, n), maxTTL: maxTTL, fresh: true}
	for i := range c.servers {
		c.servers[i] = servers.Redis(t)
	}
	c.settle(t, c.url())
	return c
}

// startWithClocks is start, with a clock for each server.
func startWithClocks(t testing.TB, n int) (*cluster, []*servers.Clock) {
	t.Helper()
	c := &cluster{maxTTL: ttl}
	var clocks []*servers.Clock
	for range n {
		clock := servers.NewClock(t)
		clocks = append(clocks, clock)
		c.servers = append(c.servers, servers.RedisAt(t, clock))
	}
	c.settle(t, c.url())
	return c, clocks
}

// url is the quorum's.
func (c *cluster) url() string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.Addr
	}
	return c.urlOf(addrs)
}

func (c *cluster) urlOf(addrs []string) string {
	return fmt.Sprintf("redlock://%s?timeout=%v&maxttl=%v&unsafefresh=%v",
		strings.Join(addrs, ","), min(slowNode, c.maxTTL/2), c.maxTTL, c.fresh)
}

// behind puts a proxy in front of each server, and returns the URL of the quorum that lies behind them.
func (c *cluster) behind(t testing.TB) (string, []*proxy.Proxy) {
	t.Helper()
	proxies := make([]*proxy.Proxy, len(c.servers))
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		proxies[i] = proxy.New(t, s.Addr)
		addrs[i] = proxies[i].Addr
	}
	return c.urlOf(addrs), proxies
}

// minority is as many of the servers as a majority can spare.
func (c *cluster) minority() []*servers.Server { return c.servers[:(len(c.servers)-1)/2] }

// settle waits until all servers are known to remember what they grant.
func (c *cluster) settle(t testing.TB, url string) {
	t.Helper()
	for _, s := range c.servers {
		if !c.fresh {
			mustLive(t, s, c.maxTTL)
		}
	}
	d := open(t, url)
	eventually(t, "all servers are marked as new", func() bool {
		// A majority grants it, and the slowest server may not even be asked; so the next is for that one.
		await(t, d, try(claim("settle "+rand.Text(), time.Second)), driver.Status{})
		for _, s := range c.servers {
			if s.RedisCommand(t, "EXISTS", "holdfast:{%7Elife}") != "1" {
				return false
			}
		}
		return true
	})
}

// open opens a client of the quorum.
func open(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	return opened.DriverBesideFaults(t, url)
}

// on opens a client of one server.
func on(t testing.TB, s *servers.Server) *drivertest.Facade { return open(t, "redis://"+s.Addr) }

var (
	claim, try       = claimed.Mutex, claimed.Try
	acquire, release = claimed.Acquire, claimed.Release
)

const patience = 60 * time.Second // far above what anything takes

// await waits until c is granted, as the core does.
func await(t testing.TB, d *drivertest.Facade, c driver.Claim, st driver.Status) driver.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := follow(ctx, d, c, st)
	if err != nil {
		t.Fatalf("waiting for a claim: %v", err)
	}
	return st
}

// follow requests c until it is granted. Where the outcome is unknown it asks again.
func follow(ctx context.Context, d *drivertest.Facade, c driver.Claim, st driver.Status) (driver.Status, error) {
	var err error
	for {
		if st.Granted || errors.Is(err, driver.ErrGone) || ctx.Err() != nil {
			return st, errors.Join(err, ctx.Err())
		}
		if st != (driver.Status{}) {
			waitOnce(ctx, d, c, st.Retry)
		}
		if st, err = d.Request(ctx, c); err != nil {
			_ = driver.Sleep(ctx, 10*time.Millisecond) // the loop looks at ctx
		}
	}
}

func waitOnce(ctx context.Context, d *drivertest.Facade, c driver.Claim, retry time.Duration) {
	if retry > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, retry)
		defer cancel()
	}
	_, _ = d.Wait(ctx, c) // the caller asks again, whatever it says
}

// eventually waits for what no message announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
		driver.Sleep(context.Background(), 10*time.Millisecond)
	}
}
