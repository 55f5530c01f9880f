package redislock

import "github.com/holdfast-go/holdfast/driver"

// A QueueDriver is the driver of the native layout with all that it can do.
type QueueDriver = native

// QueueOf returns what is behind a [Driver] in the native layout.
func QueueOf(d driver.Driver) *native {
	n, _ := driver.As[*native](d)
	return n
}
