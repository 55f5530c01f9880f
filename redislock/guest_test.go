package redislock_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// guests are the layouts of other libraries.
var guests = []redislock.Layout{redislock.PythonRedisLock, redislock.Redisson}

func TestGuests(t *testing.T) {
	for _, layout := range guests {
		t.Run(string(layout), func(t *testing.T) {
			addr := servers.Redis(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return openGuest(t, addr, layout) },
				TTL:  time.Second,
			})
		})
	}
}

func openGuest(t testing.TB, addr string, layout redislock.Layout) driver.Driver {
	t.Helper()
	d, err := driver.Open(t.Context(), "redis://"+addr+"?layout="+string(layout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
