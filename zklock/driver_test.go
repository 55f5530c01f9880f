package zklock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// shortTTL is for claims that the suite lets expire. The servers would grant less, but a busy machine could not
// keep it.
const shortTTL = 2 * time.Second

func TestDriver(t *testing.T) {
	t.Parallel()
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, zklock.Server(t).Addr), TTL: shortTTL})
}

func TestDriverInCuratorsLayout(t *testing.T) {
	t.Parallel()
	opts := &zklock.Options{Layout: zklock.Curator}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, zklock.Server(t).Addr), TTL: shortTTL, Again: true})
}

func TestDriverInKazoosLayout(t *testing.T) {
	t.Parallel()
	opts := &zklock.Options{Layout: zklock.Kazoo}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, zklock.Server(t).Addr), TTL: shortTTL, Again: true})
}

func TestDriverOnAnEnsemble(t *testing.T) {
	t.Parallel()
	addresses := addrs(servers.ZooKeeperEnsemble(t, 3))
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addresses...), TTL: shortTTL, Elects: true, Again: true})
}
