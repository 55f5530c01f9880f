package etcdlock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// shortTTL is for claims that expire; a busy machine stalls for longer than the shortest that there is.
const shortTTL = 2 * time.Second

func TestDriver(t *testing.T) {
	effort.Raced(t)
	addr := server(t).Addr
	spoil := func(t testing.TB, name string) {
		key := "/holdfast/" + driver.EncodeName(name, 0) + "/1f/0"
		if _, err := dial(t, addr).Put(limit(t), key, "{}"); err != nil {
			t.Fatal(err)
		}
	}
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addr), TTL: shortTTL, Spoil: spoil})
}

func TestDriverInTheOtherLayout(t *testing.T) {
	effort.Long(t)
	opts := &etcdlock.Options{Layout: etcdlock.Concurrency}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, server(t).Addr), TTL: shortTTL})
}

func TestDriverOnACluster(t *testing.T) {
	effort.Long(t)
	addresses := addrs(servers.EtcdCluster(t, 3))
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addresses...), TTL: shortTTL, Elects: true})
}
