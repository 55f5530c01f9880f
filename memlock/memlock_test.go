package memlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
		store := memlock.New()
		return func(testing.TB) driver.Driver { return store.Client() }
	}})
}
