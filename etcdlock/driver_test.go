package etcdlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, servers.Etcd(t).Addr)})
}

func TestDriverInTheOtherLayout(t *testing.T) {
	opts := &etcdlock.Options{Layout: etcdlock.Concurrency}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, servers.Etcd(t).Addr)})
}

func TestDriverOnACluster(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addrs(servers.EtcdCluster(t, 3))...)})
}
