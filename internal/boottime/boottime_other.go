//go:build !linux

package boottime

import "time"

// Now returns the time since the machine booted, suspended or not. ok is false where there is no such clock.
func Now() (sinceBoot time.Duration, ok bool) { return 0, false }
