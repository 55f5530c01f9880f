package shedlock

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// barred is for how long an ID is barred that is released without a TTL.
const barred = time.Minute

// release releases a claim.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	if err := d.refuse(c.Name); err != nil {
		return err
	}
	if c.TTL <= 0 {
		c.TTL = barred
	}
	return d.with(ctx, func(conn conn) error {
		v := values{claim: c, state: released}
		freed, err := conn.do(ctx, "free", v)
		if err == nil && !freed {
			err = conn.end(ctx, v)
		}
		if rand.N(sweepEvery) == 0 {
			limited, cancel := context.WithTimeout(ctx, sweepTime)
			defer cancel()
			_, _ = conn.do(limited, "sweep", values{}) // the next one sweeps what this one left
		}
		return err
	})
}

// One of so many releases deletes what is left of claims, and takes no longer than this for that. Which one is left to
// chance, because many clients release one lock in their lives.
const (
	sweepEvery = 50
	sweepTime  = time.Second
)

// end notes the end of a claim that did not have the lock. Without a token the claim may get the lock until its end is
// noted, and not after that, so it is freed once more.
func (c conn) end(ctx context.Context, v values) error {
	scripts := []string{"bar", "free"}
	if v.claim.Token != 0 {
		scripts = []string{"expire"}
	}
	for _, what := range scripts {
		if _, err := c.do(ctx, what, v); err != nil {
			return err
		}
	}
	now, err := c.read(ctx, v.claim)
	switch {
	case err != nil:
		return err
	case now.state != released, v.claim.Token != 0 && v.claim.Token != now.token:
		return driver.ErrGone
	}
	return nil
}
