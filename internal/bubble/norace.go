//go:build !race

package bubble

// Raced tells that the race detector is on.
const Raced = false
