package redislock_test

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// suite runs the contract on what a URL names.
func suite(t *testing.T, url string) {
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openURL(t, url) },
		TTL:  time.Second, // a busy machine stalls for longer than the shortest
	})
}

func TestDriver(t *testing.T) { suite(t, "redis://"+servers.Redis(t).Addr) }

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
