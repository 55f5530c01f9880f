package leased

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// TombstoneGrace is added to the TTL for which the end of a claim is remembered: a request may have been sent at
// the last moment at which its claim lived.
const TombstoneGrace = time.Second

// A Tombstone is what is remembered of a claim that has ended.
type Tombstone struct {
	Released bool   // its holder gave it back; otherwise it expired, was broken, or never was
	Token    uint64 // zero: it was not known
}

// Release answers a release that finds the tombstone in place of its claim: nil when it repeats the release that
// ended the claim, [driver.ErrGone] when the claim ended otherwise. A token of zero names the ID alone.
func (t Tombstone) Release(token uint64) error {
	if t.Released && (token == 0 || t.Token == 0 || t.Token == token) {
		return nil
	}
	return driver.ErrGone
}
