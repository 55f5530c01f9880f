package memlock_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// unsure returns a driver that is sure of less than a whole TTL in some answers, as one of a server is after a stall.
// answers counts those of all clients of the store.
func unsure(d driver.Driver, answers *atomic.Int64) driver.Driver {
	return batch.Intercept(d, func(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
		r := next(op)
		if op.Kind == driver.OpRequest && answers.Add(1)%3 == 1 {
			r.Status.TTL -= r.Status.TTL / 100
		}
		return r
	})
}

// The suite passes where the driver is unsure at times: a busy machine fails no driver that says so.
func TestDriverThatIsUnsure(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
		store, answers := memlock.New(), new(atomic.Int64)
		return func(testing.TB) driver.Driver { return unsure(store.Client(), answers) }
	}})
}
