package main

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// silentTo returns a driver that answers none of these operations, which hang until their context ends.
func silentTo(d driver.Driver, these func(driver.Op) bool) driver.Driver {
	type next = func(driver.Op) driver.Result
	return batch.Intercept(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
		if !these(op) {
			return next(op)
		}
		<-ctx.Done()
		return driver.Result{Err: ctx.Err()}
	})
}

// failing returns a driver on which failure decides, for each operation, with which error it fails. It is passed on if
// that is nil.
func failing(d driver.Driver, failure func(driver.Op) error) driver.Driver {
	return batch.Intercept(d, func(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
		if err := failure(op); err != nil {
			return driver.Result{Err: err}
		}
		return next(op)
	})
}

// An untold driver tells of nothing by itself.
type untold struct{ driver.Driver }

func (untold) Subscribe(func(driver.Event)) (stop func()) { return func() {} }
