package proof

import (
	"context"
	"time"
)

// stall is how late a machine may run what was due before it counts as stalled.
const stall = 200 * time.Millisecond

// watchStalls tells of the spans in which this process did not run when it should, until ctx ends.
func watchStalls(ctx context.Context, tell func(Span)) {
	for last := now(); ctx.Err() == nil; {
		time.Sleep(10 * time.Millisecond)
		at := now()
		if at-last > stall {
			tell(Span{last, at})
		}
		last = at
	}
}
