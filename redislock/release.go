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

// Release takes the claim out of the queue, as [driver.Driver] says.
func (d *native) Release(ctx context.Context, c driver.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, err := d.keys.of(c.Name)
	if err != nil {
		return err
	}
	args := d.releaseArgs(c)
	values, err := d.runToEnd(ctx, &d.scripts.release, k, args...)
	if deniedInScript(err) {
		// The claim may have ended before the command that this user may not run, such as PUBLISH. Asking again tells.
		values, err = d.runToEnd(ctx, &d.scripts.release, k, args...)
	}
	if err != nil {
		return err
	}
	// Only now: while the outcome is unknown, whoever waits for the claim must still hear of it. And before the answer
	// is read: a claim that was gone has no more news either.
	d.notifier.forget(c.ID)
	return done(values)
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

// Break ends a claim by force, as [driver.Breaker] says.
func (d *native) Break(ctx context.Context, name, id string) error {
	return d.act(ctx, &d.scripts.cancel, name, id)
}

// Revoke asks a holder to let go, as [driver.Revoker] says.
func (d *native) Revoke(ctx context.Context, name, id string) error {
	return d.act(ctx, &d.scripts.revoke, name, id)
}

func (d *native) act(ctx context.Context, s *script, name, id string) error {
	if id == ForeignID {
		return errForeign
	}
	k, err := d.keys.of(name)
	if err != nil {
		return err
	}
	values, err := d.runToEnd(ctx, s, k, id)
	if err != nil {
		return err
	}
	return done(values)
}

func done(values []string) error {
	switch {
	case len(values) == 1 && values[0] == "ok":
		return nil
	case len(values) == 1 && values[0] == "gone":
		return driver.ErrGone
	}
	return errNotUnderstood
}
