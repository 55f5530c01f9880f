package zklock_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// open opens a driver on these servers.
func open(t testing.TB, opts *zklock.Options, addrs ...string) *zklock.Driver {
	t.Helper()
	d, err := zklock.New(addrs, opts)
	if err != nil {
		t.Fatal(err)
	}
	leasedtest.CloseLater(t, d)
	return d
}

// opener opens drivers for the suite.
func opener(opts *zklock.Options, addrs ...string) func(testing.TB) driver.Driver {
	return func(t testing.TB) driver.Driver { return open(t, opts, addrs...) }
}

// engine is what the tests that are the same for other engines must know of this one.
var engine = leasedtest.Engine{
	Server:  func(t testing.TB) string { return zklock.Server(t).Addr },
	Cluster: func(t testing.TB) []*servers.Server { return servers.ZooKeeperEnsemble(t, 3) },
	Leader:  leader,
	Open:    func(t testing.TB, addrs ...string) claimed.Driver { return open(t, nil, addrs...) },
	Format: func(t testing.TB, addr string, later int) claimed.Driver {
		return open(t, nil, addr).WithFormat(zklock.ThisFormat + later)
	},
	Outlast: 10 * time.Second,
	Cut:     3 * time.Second,
	Late:    3*3*time.Second + 5*time.Second,
}

func TestEngine(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	leasedtest.Run(t, engine)
}

// leader is the place of the server that leads.
func leader(t *testing.T, ensemble []*servers.Server) int {
	return slices.IndexFunc(ensemble, func(s *servers.Server) bool { return s.ZooKeeperLeads(t) })
}
