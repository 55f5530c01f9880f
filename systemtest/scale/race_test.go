//go:build race

package scale

// With the race detector everything takes several times as long and as much memory.
const (
	raceDetector = true
	leases       = 20_000
)
