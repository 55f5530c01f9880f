//go:build !race

package scale

const (
	raceDetector = false
	leases       = 100_000
)
