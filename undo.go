package holdfast

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// undo takes a claim back in the background, until the backend answers or the claim must have expired. It is for claims
// whose request may have been applied, and for those that nobody wants any more. The claim has its token if that is
// known: without one its ID is barred, too, for a request that is still on its way. A refusal may be as short as a
// failover.
func (c *Client) undo(claim driver.Claim) {
	c.background.run(func() {
		sent := now()
		err := c.giveBack(c.lifetime, claim, claim.TTL)
		for pace := (pace{}); errors.Is(err, driver.ErrRefused) && now().sub(sent) < claim.TTL && pace.pause(c.lifetime) == nil; {
			err = c.giveBack(c.lifetime, claim, claim.TTL-now().sub(sent))
		} // nobody is left to tell, and the TTL ends what is left
	})
}

// giveBack releases a claim, again and again until the backend answers, patience is at its end, or ctx is. An answer is
// nil, or matches driver.ErrGone, driver.ErrRefused or driver.ErrUnknown.
func (c *Client) giveBack(ctx context.Context, claim driver.Claim, patience time.Duration) error {
	sent := now()
	giveUp := sent.add(patience)
	for pace := (pace{}); ; sent = now() {
		attempt := c.attempts.begin(ctx, attemptLimit(claim.TTL), sent)
		err := c.driver.Release(attempt, claim)
		c.attempts.end(attempt)
		if err == nil || answered(err) || errors.Is(err, driver.ErrUnknown) {
			return err
		}
		if now() > giveUp || pace.pause(ctx) != nil {
			return err
		}
	}
}

// answered reports whether an error is the backend's answer, so that repeating the request would not change it.
func answered(err error) bool {
	return errors.Is(err, driver.ErrGone) || errors.Is(err, driver.ErrRefused) ||
		errors.Is(err, driver.ErrInvalidName) || errors.Is(err, errors.ErrUnsupported)
}

// A pace makes the pauses between attempts: short at first, growing, and never in step with other clients.
type pace struct{ last time.Duration }

// Bounds of a pause between two attempts.
const (
	firstPause = 5 * time.Millisecond
	longPause  = 250 * time.Millisecond
)

// pause waits before the next attempt, or returns the error of ctx when that ends first.
func (p *pace) pause(ctx context.Context) error {
	p.last = min(max(2*p.last, firstPause), longPause)
	return driver.Sleep(ctx, p.last/2+rand.N(p.last/2))
}

// isGone reports whether the backend said that it does not have the claim.
func isGone(err error) bool { return errors.Is(err, driver.ErrGone) }
