package redislock_test

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// suite runs the contract on what a URL names.
func suite(t *testing.T, url string) {
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openURL(t, url) },
		TTL:  time.Second, // a busy machine stalls for longer than the shortest
	})
}

func TestDriver(t *testing.T) {
	server := servers.Redis(t)
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openURL(t, "redis://"+server.Addr) },
		TTL:  time.Second,
		Spoil: func(t testing.TB, name string) {
			server.RedisCommand(t, "SET", redislock.DefaultPrefix+"{"+driver.EncodeName(name, 0)+"}:claims", "what no driver wrote")
		},
	})
}

func TestDriverWithSentinels(t *testing.T) {
	g := servers.RedisSentinel(t)
	suite(t, "redis-sentinel://"+addrs(g.Sentinels)+"/"+g.Name)
}

func TestDriverWithReplicas(t *testing.T) {
	if os.Getenv("HOLDFAST_SOAK") == "" {
		t.Skip("the contract with replicas=1 is for HOLDFAST_SOAK=1; the tests of replicas show what differs")
	}
	g := servers.RedisSentinel(t)
	suite(t, "redis-sentinel://"+addrs(g.Sentinels)+"/"+g.Name+"?replicas=1")
}

func TestDriverOnCluster(t *testing.T) {
	suite(t, "redis-cluster://"+addrs(servers.RedisCluster(t).Masters[:2]))
}
