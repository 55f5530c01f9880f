// Package boottime tells time that passes while the machine is suspended, which Go's own clock and timers do not.
package boottime

import "time"

// InBubble reports whether a reading of [time.Now] comes from a testing/synctest bubble. Such readings, and no others,
// have no monotonic part.
func InBubble(t time.Time) bool { return t == t.Round(0) }
