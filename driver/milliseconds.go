package driver

import "time"

// Milliseconds returns d in milliseconds, rounded up. It is for engines that count in milliseconds: a claim that got
// less than it asked for would end before its client expects it.
func Milliseconds(d time.Duration) int64 {
	ms := d / time.Millisecond
	if ms*time.Millisecond < d {
		ms++
	}
	return int64(ms)
}
