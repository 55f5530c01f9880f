package driver

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Backoff makes the pauses between attempts. Each may be twice as long as the one before, and is drawn at random, so
// that clients that failed together do not come back together. It is for one goroutine. The zero value does not pause.
type Backoff struct {
	First time.Duration // the most that the first pause may take
	Most  time.Duration // the most that any may take

	// Scatter draws a pause from zero up, not from half its length up. It is for clients that collided with each other:
	// one of them can go on at once, and the wider apart the others are, the fewer collide again.
	Scatter bool
	// Draw returns a duration below the one that it is given: rand.N when nil. Tests that are repeated set it.
	Draw func(time.Duration) time.Duration

	last time.Duration
}

// Pause waits before the next attempt. If ctx ends first, Pause returns its error.
func (b *Backoff) Pause(ctx context.Context) error { return Sleep(ctx, b.Next()) }

// Next returns how long the next pause takes, for callers that use a timer.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, b.First), b.Most)
	draw := b.Draw
	if draw == nil {
		draw = rand.N[time.Duration]
	}
	if b.Scatter {
		return draw(max(b.last, 1))
	}
	return b.last/2 + draw(max(b.last/2, 1))
}

// Reset lets the next pause be the first again, after an attempt that worked.
func (b *Backoff) Reset() { b.last = 0 }

// Pause waits for a random time of at least half of most and less than most, so that clients that began together do not
// go on together. If ctx ends first, Pause returns its error.
func Pause(ctx context.Context, most time.Duration) error {
	return Sleep(ctx, most/2+rand.N(max(most/2, 1)))
}

// Sleep pauses for d. If ctx ends first, Sleep returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
