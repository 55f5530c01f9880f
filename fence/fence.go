package fence

import (
	"fmt"
	"math"
	"strconv"
)

// ErrStale says that a write was refused: the resource has seen a greater token, so whoever holds this one has lost the
// lock. Nothing was written. Stop the work, and do not repeat it with this token.
var ErrStale error = staleError{}

type staleError struct{}

func (staleError) Error() string { return "stale fencing token" }

// LockLost tells those who know locks, and not resources, that the holder of the token has lost its lock.
func (staleError) LockLost() bool { return true }

// MaxToken is the greatest token: it fits in the signed integers of databases.
const MaxToken = math.MaxInt64

// Stale is the error of a guard that refuses a token. seen is the greatest one so far, or 0 if the guard does not know.
func Stale(resource string, token, seen uint64) error {
	err := fmt.Errorf("%w: %d for %q", ErrStale, token, resource)
	if seen != 0 {
		err = fmt.Errorf("%w, where %d was seen", err, seen)
	}
	return fmt.Errorf("%w; the lock was lost, so stop the work", err)
}

// Check returns an error for numbers that no lock gives out as tokens, above all 0: a resource would refuse them or,
// worse, accept them.
func Check(token uint64) error {
	if token == 0 || token > MaxToken {
		return fmt.Errorf("%d is not a fencing token; pass what Lease.Token returns", token)
	}
	return nil
}

// Format writes a token as a decimal string, for programs in any language. In JSON make it a string, never a number.
func Format(token uint64) string { return strconv.FormatUint(token, 10) }

// Parse reads what [Format] writes, and nothing else.
func Parse(s string) (uint64, error) {
	token, err := strconv.ParseUint(s, 10, 64)
	if err != nil || Format(token) != s || Check(token) != nil {
		return 0, fmt.Errorf("%.40q is not a fencing token; "+
			"write it as a decimal number without a sign or leading zeros", s)
	}
	return token, nil
}
