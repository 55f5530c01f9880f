package zklock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// BenchmarkAlone shows what gathering gains. docs/speed.md says why the driver's Traits.Alone is what it is.
func BenchmarkAlone(b *testing.B) {
	drivertest.BenchmarkAlone(b, open(b, nil, servers.ZooKeeper(b).Addr), 1, 2, 4, 8)
}
