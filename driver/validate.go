package driver

import (
	"fmt"
	"time"
)

// Validate reports what is wrong with a claim for a driver with these traits. A bad name wraps [ErrInvalidName], and
// what the backend cannot do wraps [errors.ErrUnsupported].
func Validate(c Claim, t Traits) error {
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: it is empty; give the lock a name", ErrInvalidName)
	case t.MaxName > 0 && len(c.Name) > t.MaxName:
		return fmt.Errorf("%w: it has %d bytes, %s takes at most %d; use a shorter one",
			ErrInvalidName, len(c.Name), t.Backend, t.MaxName)
	case !IsID(c.ID):
		return fmt.Errorf("claim ID %q: use 1 to %d letters, digits, '-' and '_'", c.ID, maxID)
	case c.Limit < 1 || c.Limit > All:
		return fmt.Errorf("limit %d: it must be from 1 to %d", c.Limit, All)
	case c.Weight < 1 || c.Weight > c.Limit:
		return fmt.Errorf("weight %d: it must be from 1 to the limit, %d", c.Weight, c.Limit)
	case c.Limit > 1 && !t.Weighted:
		return Unsupported(t, "readers and semaphores")
	case c.Detached && !t.Detach:
		return Unsupported(t, "claims that outlive their client")
	}
	return validateTTL(c.TTL, t)
}

func validateTTL(ttl time.Duration, t Traits) error {
	switch {
	case ttl < t.MinTTL || ttl <= 0:
		return fmt.Errorf("TTL %v: %s takes at least %v", ttl, t.Backend, t.MinTTL)
	case t.MaxTTL > 0 && ttl > t.MaxTTL:
		return fmt.Errorf("TTL %v: %s takes at most %v", ttl, t.Backend, t.MaxTTL)
	}
	return nil
}

// maxID is the longest claim ID in bytes.
const maxID = 64

// IsID reports whether a claim may have this ID, as whoever reads one that others may have written should ask.
func IsID(id string) bool {
	for _, b := range []byte(id) {
		if !isWordByte(b) {
			return false
		}
	}
	return 0 < len(id) && len(id) <= maxID
}
