package holdfast

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// isGone reports whether the backend said that it does not have the claim.
func isGone(err error) bool { return errors.Is(err, driver.ErrGone) }

// isUnsent reports whether an error says that the request has not left the client.
func isUnsent(err error) bool { return errors.Is(err, driver.ErrUnsent) }

// isSilence reports whether the backend did not answer, may it have got the request or not.
func isSilence(err error) bool { return errors.Is(err, ErrUnknown) || errors.Is(err, ErrUnavailable) }

// Bounds of a pause between two attempts.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// newPace makes the pauses between attempts to be answered.
func newPace() driver.Backoff { return paceUpTo(longPause) }

// paceUpTo is newPace where the backend need not be asked that often.
func paceUpTo(most time.Duration) driver.Backoff {
	return driver.Backoff{First: firstPause, Most: most, Draw: jitter}
}

// jitter draws the part of a pause that keeps clients out of step. Tests draw otherwise, so that a run can be repeated.
var jitter = rand.N[time.Duration]
