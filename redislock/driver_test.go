package redislock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// patiently is for clients that are to connect however busy the machine is.
const patiently = "connecttimeout=5m"

// behindSender opens a driver of which the suite tries Do and Subscribe. Operations gather when so many
// are under way; 0: they never do.
func behindSender(t testing.TB, url string, alone int) driver.Driver {
	t.Helper()
	d := openAny(t, url)
	return drivertest.NewFacade(drivertest.Gather(d, alone, d.Traits().MaxInFlight))
}

// suite runs the contract on what a URL names, a single server or several. server is the one that has a key. Operations
// gather, as those of programs do; make test-long has each go alone, too.
func suite(t *testing.T, url string, several bool, server func(t testing.TB, key string) *servers.Server) {
	for how, open := range map[string]func(testing.TB) driver.Driver{
		"alone":    func(t testing.TB) driver.Driver { return behindSender(t, url, 0) },
		"gathered": func(t testing.TB) driver.Driver { return behindSender(t, url, 1) },
	} {
		t.Run(how, func(t *testing.T) {
			if how != "gathered" {
				effort.Long(t)
			}
			drivertest.Run(t, drivertest.Harness{
				Open: open,
				TTL:  time.Second, // a busy machine stalls for longer than the shortest
				Spoil: func(t testing.TB, name string) {
					key := "holdfast:{" + driver.EncodeName(name, 0) + "}:claims"
					server(t, key).RedisCommand(t, "SET", key, "what no driver wrote")
				},
			})
		})
	}
}

func TestDriver(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	server := servers.Redis(t)
	suite(t, "redis://"+server.Addr+"?"+patiently, false, func(testing.TB, string) *servers.Server { return server })
}

func TestDriverWithSentinels(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	g := servers.RedisSentinel(t)
	g.Steady(t)
	suite(t, "redis-sentinel://"+addrs(g.Sentinels)+"/"+g.Name+"?"+patiently, true, masterOf(g))
}

func TestDriverWithReplicas(t *testing.T) {
	t.Parallel()
	effort.Soak(t) // the tests of replicas show what differs
	g := servers.RedisSentinel(t)
	g.Steady(t)
	suite(t, "redis-sentinel://"+addrs(g.Sentinels)+"/"+g.Name+"?replicas=1&"+patiently, true, masterOf(g))
}

// masterOf is where a group with a master has all keys.
func masterOf(g *servers.SentinelGroup) func(t testing.TB, key string) *servers.Server {
	return func(t testing.TB, _ string) *servers.Server { return g.Master(t, nil) }
}

func TestDriverOnCluster(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	c := servers.RedisCluster(t, "--cluster-node-timeout", "600000") // no server fails, however long it is silent
	owner := func(t testing.TB, key string) *servers.Server { return c.Owner(t, c.SlotOf(t, key)) }
	suite(t, "redis-cluster://"+addrs(c.Masters[:2])+"?"+patiently, true, owner)
}
