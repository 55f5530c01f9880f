package zklock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// shortTTL is for claims that the suite lets expire. The servers would grant less, but a busy machine could not
// keep it.
const shortTTL = 2 * time.Second

func TestDriver(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, zklock.Server(t).Addr), TTL: shortTTL})
}

func TestDriverInCuratorsLayout(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	opts := &zklock.Options{Layout: zklock.Curator}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, zklock.Server(t).Addr), TTL: shortTTL})
}

func TestDriverInKazoosLayout(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	opts := &zklock.Options{Layout: zklock.Kazoo}
	drivertest.Run(t, drivertest.Harness{Open: opener(opts, zklock.Server(t).Addr), TTL: shortTTL})
}

func TestDriverOnAnEnsemble(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	addresses := addrs(servers.ZooKeeperEnsemble(t, 3))
	drivertest.Run(t, drivertest.Harness{Open: opener(nil, addresses...), TTL: shortTTL, Elects: true})
}

// A program that began while no server answered may ask for all that the server grants later, and for no more.
func TestTraitsWithoutAServer(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, zklock.Server(t).Addr)
	p.BlackHole()
	d := open(t, nil, p.Addr)
	d.Traits()
	p.Heal()
	acquire(t, d, claim("job", long))
	if _, err := d.Request(limit(t), claim("another", 100*365*24*time.Hour)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("a TTL of a hundred years: %v", err)
	}
}

// Such a program can ask about locks, too, where sessions live for less than is usual.
func TestQuestionsWithoutTraits(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, servers.ZooKeeper(t, "maxSessionTimeout=4000").Addr)
	p.BlackHole()
	d := open(t, nil, p.Addr)
	d.Traits()
	p.Heal()
	if queue, err := d.Queue(limit(t), "job"); err != nil || len(queue) > 0 {
		t.Errorf("the queue of a lock that nobody has: %+v, %v", queue, err)
	}
}
