package holdfast

import "crypto/rand"

// newID names a claim. It is never used again: a late copy of an old request must not act on a new claim.
func newID() string { return rand.Text() }
