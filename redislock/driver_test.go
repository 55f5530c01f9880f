package redislock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

func TestDriver(t *testing.T) {
	addr := redisServer(t)
	drivertest.Run(t, drivertest.Harness{Open: func(t testing.TB) driver.Driver { return openURL(t, "redis://"+addr) }})
}
