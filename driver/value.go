package driver

import (
	"fmt"
	"time"
)

// A Value is text that a lock keeps from one holder to the next. The zero Value says that there is none.
type Value struct {
	Text  string    // any bytes, at most MaxValue of them
	Token uint64    // the fencing token of the lease that set it
	Set   time.Time // when, by the clock of the client that set it, to the microsecond
}

// MaxValue is the longest text of a [Value] in bytes. Every engine can keep that much beside a lock.
const MaxValue = 64 << 10

// IsAfter reports whether v was set after u: under a greater token, or later under the same. So a copy of an earlier
// request that arrives late is told from a newer one.
func (v Value) IsAfter(u Value) bool {
	if v.Token != u.Token {
		return v.Token > u.Token
	}
	return v.Set.After(u.Set)
}

// Validate reports why no lock can keep the value, by an error that wraps [ErrRefused].
func (v Value) Validate() error {
	if len(v.Text) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, and a lock keeps at most %d; store it elsewhere, and here only "+
			"where", ErrRefused, len(v.Text), MaxValue)
	}
	return nil
}

// Supersede decides for a driver what becomes of a value that is set while another is kept: it is written, or it is the
// same and need not be, or it is older and refused.
func (v Value) Supersede(kept Value) (write bool, err error) {
	switch {
	case v.IsAfter(kept):
		return true, nil
	case kept.IsAfter(v):
		return false, ErrOlderValue
	default:
		return false, nil
	}
}

// ErrOlderValue is the error for a value that is older than the one that is kept: of the copy of a request that comes
// late, or of a client whose clock is behind that of another one which has the same claim.
var ErrOlderValue = fmt.Errorf("%w: the value of this lock was set after that already", ErrRefused)
