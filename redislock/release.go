package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// barred is for how long an ID stays barred that was released before it was queued, if the claim does not say how
// long it would have lived.
const barred = time.Minute

// release takes a claim out of the queue that nobody is to get.
func (d *native) release(ctx context.Context, c driver.Claim) (err error) {
	d.Do(ctx, []driver.Op{{Kind: driver.OpRelease, Claim: c}}, func(_ int, r driver.Result) { err = r.Err })
	return err
}

func (d *native) releaseArgs(c driver.Claim) []string {
	if c.Token != 0 {
		return []string{c.ID, tokenText(c.Token)}
	}
	ttl := min(c.TTL, maxTTL)
	if ttl <= 0 {
		ttl = barred
	}
	lives := driver.Milliseconds(ttl)
	return d.appendKeep([]string{c.ID, tokenText(0), strconv.FormatInt(lives, 10)}, lives)
}

// done reads what a script answers that ends a claim, or asks its holder to let go.
func done(values []string) error {
	switch {
	case len(values) == 1 && values[0] == "ok":
		return nil
	case len(values) == 1 && values[0] == "gone":
		return driver.ErrGone
	}
	return errNotUnderstood
}

// released reads what the script answers that releases a claim. Of a lone claim nothing is left once it was released,
// so another attempt cannot tell that from its expiry.
func released(values []string, try driver.Try) error {
	switch {
	case len(values) != 1 || values[0] != "unknown":
		return done(values)
	case try == driver.TryAgain:
		return driver.ErrUnknown
	}
	return driver.ErrGone
}
