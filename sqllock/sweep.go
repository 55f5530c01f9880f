package sqllock

import "time"

// How often leftovers are swept, on the way of other requests, and how long a lock is unused until its token is
// forgotten. The clock in the next token keeps it greater than those before, unless the clock goes back by as much.
const (
	sweepEvery   = 10 * time.Second
	fencesLiveOn = 30 * 24 * time.Hour
)

// sweep removes what nobody needs any more. Failing to is no reason to fail.
func (t *tx) sweep() {
	if time.Since(t.d.swept) < sweepEvery {
		return
	}
	t.d.swept = time.Now()
	t.exec(sweepEnded, bootID(), t.now)                            // next time, then
	t.exec(sweepClaims, bootID(), t.now)
	t.exec(sweepFences, time.Now().Add(-fencesLiveOn).UnixMicro())
	t.d.client.sweep()
}
