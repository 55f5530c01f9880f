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
		n, err := whileFree(ctx, d, c, func(ctx context.Context, cl *claim) (n news, err error) {
			n.phase, n.lost = cl.phase, cl.lost
			if cl.phase == waiting {
				n.status, err = d.attempt(ctx, c, cl, true)
			}
			return n, err
		})
		switch {
		case err != nil || n.status.Granted:
			return n.status, err
		case n.phase == granted:
			return driver.Status{}, d.waitForLoss(ctx, n.lost)
		case n.phase != waiting:
			return driver.Status{}, driver.Sleep(ctx, server.FirstPause) // to be asked for first
		}
	}
}

// news is what became of a claim.
type news struct {
	phase  phase
	lost   <-chan struct{}
	status driver.Status
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
