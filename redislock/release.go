package redislock

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// barred is how long an ID stays barred that was released before it was queued, if the claim does not say how long it
// would have lived.
const barred = time.Minute

// Release takes the claim out of the queue, as [driver.Driver] says.
func (d *Driver) Release(ctx context.Context, c driver.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, err := d.keys(c.Name)
	if err != nil {
		return err
	}
	values, err := d.runToEnd(ctx, &d.scripts.release, k, releaseArgs(c)...)
	if err != nil {
		return err
	}
	d.notifier.forget(c.ID)
	return done(values)
}

// runToEnd runs a script that ends a claim, and has all granted that this makes grantable: what one run leaves is done by the
// next. Should that fail, whoever asks about the lock goes on.
func (d *Driver) runToEnd(ctx context.Context, s *script, k keys, args ...string) ([]string, error) {
	values, err := d.run(ctx, s, k, args...)
	answer, more := cutMore(values)
	for more {
		values, _ = d.run(ctx, s, k, args...)
		_, more = cutMore(values)
	}
	return answer, err
}

func releaseArgs(c driver.Claim) []string {
	if c.Token != 0 {
		return []string{c.ID, tokenText(c.Token)}
	}
	ttl := min(c.TTL, maxTTL)
	if ttl <= 0 {
		ttl = barred
	}
	return []string{c.ID, tokenText(0), strconv.FormatInt(driver.Milliseconds(ttl), 10)}
}

// Break ends a claim by force, as [driver.Breaker] says.
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.act(ctx, &d.scripts.cancel, name, id)
}

// Revoke asks a holder to let go, as [driver.Revoker] says.
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.act(ctx, &d.scripts.revoke, name, id)
}

func (d *Driver) act(ctx context.Context, s *script, name, id string) error {
	if id == ForeignID {
		return errForeign
	}
	k, err := d.keys(name)
	if err != nil {
		return err
	}
	values, err := d.runToEnd(ctx, s, k, id)
	if err != nil {
		return err
	}
	return done(values)
}

var errNotUnderstood = errors.New("redis: the answer of a script cannot be understood")

func done(values []string) error {
	switch {
	case len(values) == 1 && values[0] == "ok":
		return nil
	case len(values) == 1 && values[0] == "gone":
		return driver.ErrGone
	}
	return errNotUnderstood
}
