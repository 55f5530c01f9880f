package advisory

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// wait waits until a claim may have moved. A claim waits in the server, for a while at a time: in between, the session
// shows that its client lives, so that the server does not go on waiting for clients that are gone.
func (d *Driver) wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	for {
		var now phase
		var lost <-chan struct{}
		st, err := d.whileFree(ctx, c, func(ctx context.Context, cl *claim) (st driver.Status, err error) {
			now, lost = cl.phase, cl.lost
			if now == waiting {
				st, err = d.attempt(ctx, c, cl, true)
			}
			return st, err
		})
		switch {
		case err != nil || st.Granted:
			return st, err
		case now == granted:
			return st, d.waitForLoss(ctx, lost)
		case now != waiting:
			return st, driver.Sleep(ctx, server.FirstPause) // to be asked for first
		}
	}
}

// waitForLoss waits until a granted claim is over, or the driver is closed.
func (d *Driver) waitForLoss(ctx context.Context, lost <-chan struct{}) error {
	select {
	case <-lost:
		return driver.ErrGone
	case <-d.life.Done():
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// longestWait is less than a second, from which on servers log statements that are slow, and who waits for a lock.
const longestWait = 800 * time.Millisecond

// waitFor is how long a session waits in the server at a time.
func (d *Driver) waitFor(ttl time.Duration) time.Duration {
	return max(d.nature.wait, min(ttl/16, longestWait))
}
