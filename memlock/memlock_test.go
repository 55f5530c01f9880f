package memlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestDriver(t *testing.T) {
	store := memlock.New()
	drivertest.Run(t, drivertest.Harness{Open: func(testing.TB) driver.Driver { return store.Client() }})
}
