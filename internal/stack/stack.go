// Package stack makes room on the stacks of goroutines.
package stack

// Grow makes room at once on the stack of the goroutine that calls it, for calls through the core and a driver. Call it
// first in a goroutine that makes such calls. Go starts a stack with 2 KiB and doubles it when it is full, and copies
// all that is on it each time, which takes longer than what most operations do in this process.
func Grow() { reserve(0) }

// reserve has a frame of the size that Grow makes room for. What it returns keeps the compiler from leaving it out.
//
//go:noinline
func reserve(at int) byte {
	var room [8 << 10]byte
	return room[at]
}
