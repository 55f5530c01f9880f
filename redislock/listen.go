package redislock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen implements [driver.Listener]. What arrived before somebody listened counts as well, so moved is called at
// once where something did, and where the record of the claim did not name the channel of this client until now.
func (d *native) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	again, err := d.notifier.listenFor(ctx, c)
	if err != nil {
		return nil, explain(err)
	}
	// After listenFor, which makes the mailbox if there is none. What arrives between the two is in it, as missed.
	stop, missed := d.notifier.attach(c.ID, moved)
	if again || missed {
		moved()
	}
	return stop, nil
}
