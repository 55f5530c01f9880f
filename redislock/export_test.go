package redislock

import (
	"math"

	"github.com/holdfast-go/holdfast/driver"
)

// A QueueDriver is the driver of the native layout with all that it can do.
type QueueDriver = native

// QueueOf returns what is behind a [Driver] in the native layout.
func QueueOf(d driver.Driver) *native {
	n, _ := driver.As[*native](d)
	return n
}

// OverlookBreaks has a driver never notice that a connection broke, as where that happens between its look and its
// call, or where a connection to another server of a cluster was made since.
func OverlookBreaks(d driver.Driver) {
	QueueOf(d).conn.(rueidisConn).flows.greeted.Store(math.MaxInt64)
}
