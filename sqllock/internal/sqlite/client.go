package sqlite

import (
	"crypto/rand"
	"time"
)

func newID() string { return rand.Text() }

// netPause is the net below rings and lines: how often the next in line looks at the queue by itself. Where clients
// cannot ring, all who wait do.
const netPause = 250 * time.Millisecond
