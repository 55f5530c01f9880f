package etcdlock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// shortTTL is for claims that expire; a busy machine stalls for longer than the shortest that there is.
const shortTTL = 2 * time.Second

func TestDriver(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, server(t).Addr), TTL: shortTTL})
}

func TestDriverInTheOtherLayout(t *testing.T) {
	opts := &etcdlock.Options{Layout: etcdlock.Concurrency}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, server(t).Addr), TTL: shortTTL, Again: true})
}

func TestDriverOnACluster(t *testing.T) {
	addresses := addrs(servers.EtcdCluster(t, 3))
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addresses...), TTL: shortTTL, Elects: true, Again: true})
}
