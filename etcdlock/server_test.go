package etcdlock_test

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// open connects a new client to the servers, and a driver on it.
func open(t testing.TB, opts *etcdlock.Options, addrs ...string) *etcdlock.Driver {
	t.Helper()
	d, err := etcdlock.New(dial(t, addrs...), opts)
	if err != nil {
		t.Fatal(err)
	}
	leasedtest.CloseLater(t, d)
	return d
}

func dial(t testing.TB, addrs ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: addrs, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// opener opens drivers for the suite.
func opener(opts *etcdlock.Options, addrs ...string) func(testing.TB) driver.Driver {
	return func(t testing.TB) driver.Driver { return open(t, opts, addrs...) }
}

// engine is what the tests that are the same for other engines must know of this one.
var engine = leasedtest.Engine{
	Server:  func(t testing.TB) string { return server(t).Addr },
	Cluster: func(t testing.TB) []*servers.Server { return servers.EtcdCluster(t, 3) },
	Leader:  leader,
	Open:    func(t testing.TB, addrs ...string) claimed.Driver { return open(t, nil, addrs...) },
	Format: func(t testing.TB, addr string, later int) claimed.Driver {
		return open(t, nil, addr).WithFormat(etcdlock.ThisFormat + later)
	},
	Outlast: 5 * time.Second,
	Cut:     short,
	Late:    short + leaseSlack + 3*time.Second,
}

func TestEngine(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	leasedtest.Run(t, engine)
}

// leaseSlack is what a lease may live longer than its claims.
const leaseSlack = 2 * time.Second

// own returns the driver behind a Facade, for tests of its own methods.
func own(d driver.Driver) *etcdlock.Driver {
	etcd, _ := driver.As[*etcdlock.Driver](d)
	return etcd
}
