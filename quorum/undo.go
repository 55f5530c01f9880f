package quorum

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// undo gives back what a round was granted. It waits for those nodes that granted, because whoever comes next should
// find them free, and for nobody else.
func (d *Driver) undo(ctx context.Context, r *round) {
	r.mu.Lock()
	r.lost = true
	touched := slices.Clone(r.touched)
	r.mu.Unlock()
	done := make(chan struct{}, len(d.nodes))
	wait := 0
	for i, n := range d.nodes {
		if !touched[i] {
			continue
		}
		granted := r.votes[i].answer == granted
		if granted {
			wait++
		}
		d.spawn(func(ctx context.Context) {
			d.giveBack(ctx, n, r.node)
			if granted {
				done <- struct{}{}
			}
		})
	}
	limit := time.NewTimer(d.patience(r.node.TTL))
	defer limit.Stop()
	for range wait {
		select {
		case <-done:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-d.lifetime.Done():
			return
		}
	}
}

// Bounds of giving back what nobody waits for.
const (
	backPause = 50 * time.Millisecond
	backMost  = time.Second
	backTries = 64 // at once, to a node that does not answer
)

// giveBack releases a claim on a node, again and again until the node answers or the claim must have expired. While
// many wait for the same node, and when the driver is closed, one attempt must do: the TTL ends what is left.
func (d *Driver) giveBack(ctx context.Context, n *node, c driver.Claim) {
	end := time.Now().Add(c.TTL)
	pace := driver.Backoff{First: backPause, Most: backMost}
	for {
		err := n.do(ctx, &driver.Op{Kind: driver.OpRelease, Claim: c}, d.patience(c.TTL)).Err
		if hasAnswered(err) || time.Now().After(end) || d.lifetime.Err() != nil {
			return
		}
		if !n.late.enter() {
			return
		}
		err = pace.Pause(d.lifetime)
		n.late.leave()
		if err != nil {
			return
		}
	}
}

// A crowd bounds how many do something.
type crowd chan struct{}

func (c crowd) enter() bool {
	select {
	case c <- struct{}{}:
		return true
	default:
		return false
	}
}

// await enters once there is room. The error is that of ctx.
func (c crowd) await(ctx context.Context) error {
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c crowd) leave() { <-c }
