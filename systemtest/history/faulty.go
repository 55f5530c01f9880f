package history

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Line is a visitor's connection, which can fail: see package proxy.
type Line interface {
	BlackHole()
	BlackHoleAnswers()
	Reset()
	Delay(time.Duration)
	Heal()
}

// Disturb makes lines fail, one after the other, until ctx ends: mostly for a moment, at times for longer than the TTL.
func Disturb(ctx context.Context, lines []Line, ttl time.Duration, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(len(lines))))
	for ctx.Err() == nil {
		line := lines[r.IntN(len(lines))]
		switch r.IntN(4) {
		case 0:
			line.BlackHole()
		case 1:
			line.BlackHoleAnswers()
		case 2:
			line.Delay(ttl / 8)
		default:
			line.Reset()
		}
		lasts := time.Duration(r.Int64N(int64(ttl / 4)))
		if r.IntN(4) == 0 {
			lasts = ttl + ttl/2
		}
		pause(ctx, lasts)
		line.Heal()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
