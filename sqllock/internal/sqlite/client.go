package sqlite

import (
	"crypto/rand"
	"time"
)

func newID() string { return rand.Text() }

// pollPause is how often the next in line looks at the queue although nothing woke it. Where clients cannot wake each
// other, all who wait look that often.
const pollPause = 250 * time.Millisecond
