package redislock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestDriver(t *testing.T) {
	addr := servers.Redis(t).Addr
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openAt(t, addr, "") },
		TTL:  time.Second, // a busy machine stalls for longer than the shortest
	})
}
