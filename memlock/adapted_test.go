package memlock_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/memlock"
)

// A gathering driver gains by batches what it says.
type gathering struct {
	driver.BatchDriver
	alone, inFlight int
}

func (d gathering) Traits() driver.Traits {
	t := d.BatchDriver.Traits()
	t.Alone, t.MaxInFlight = d.alone, d.inFlight
	return t
}

func (d gathering) Unwrap() driver.BatchDriver { return d.BatchDriver }

// The whole contract holds behind a Sender, however it gathers.
func TestDriverAdapted(t *testing.T) {
	for name, wrap := range map[string]func(driver.BatchDriver) driver.BatchDriver{
		"alone":    func(d driver.BatchDriver) driver.BatchDriver { return d },
		"gathered": func(d driver.BatchDriver) driver.BatchDriver { return gathering{d, 1, 1} },
		"intercepted": func(d driver.BatchDriver) driver.BatchDriver {
			return gathering{batch.Intercept(d, pass), 2, 2}
		},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Virtual: func() func(testing.TB) driver.Driver {
				store := memlock.New()
				return func(t testing.TB) driver.Driver {
					d := drivertest.NewFacade(wrap(driver.Adapt(store.Client())))
					t.Cleanup(func() { d.Close() })
					return d
				}
			}})
		})
	}
}

func pass(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	return next(op)
}
