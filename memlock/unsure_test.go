package memlock_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// An unsure driver is sure of less than a whole TTL in some answers, as one of a server is after a stall.
type unsure struct {
	driver.Driver
	answers *atomic.Int64 // of all clients of the store
}

func (u unsure) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := u.Driver.Request(ctx, c)
	if u.answers.Add(1)%3 == 1 {
		st.TTL -= st.TTL / 100
	}
	return st, err
}

// The suite passes where the driver is unsure at times: a busy machine fails no driver that says so.
func TestDriverThatIsUnsure(t *testing.T) {
	drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
		store, answers := memlock.New(), new(atomic.Int64)
		return func(testing.TB) driver.Driver { return unsure{store.Client(), answers} }
	}})
}
