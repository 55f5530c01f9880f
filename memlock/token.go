package memlock

import "time"

// clock returns the least token that may be given now: the microseconds since 1970, by a clock that is never set.
// Tokens therefore grow also after a lock was forgotten.
func (l *lock) clock() uint64 {
	return uint64(l.began.UnixMicro()) + uint64(l.now.Sub(l.began)/time.Microsecond)
}

// nextToken returns a token greater than every one before.
func (l *lock) nextToken() uint64 {
	l.last = max(l.last+1, l.clock())
	return l.last
}
