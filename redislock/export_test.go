package redislock

import (
	"math"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A QueueDriver is the driver of the native layout, with a method for each operation.
type QueueDriver struct {
	*drivertest.Facade
	inner
}

// inner is one level below the methods of the Facade, which go before those of the driver.
type inner struct{ *native }

// QueueOf returns d, which is in the native layout, with a method for each operation.
func QueueOf(d driver.Driver) *QueueDriver {
	return &QueueDriver{drivertest.NewFacade(d), inner{nativeOf(d)}}
}

// nativeOf returns what is behind a driver in the native layout.
func nativeOf(d driver.Driver) *native {
	n, _ := driver.As[*native](d)
	return n
}

// OverlookBreaks has a driver never notice that a connection broke, as where that happens between its look and its
// call, or where a connection to another server of a cluster was made since.
func OverlookBreaks(d driver.Driver) {
	nativeOf(d).conn.(rueidisConn).flows.greeted.Store(math.MaxInt64)
}
