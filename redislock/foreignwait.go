package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// mostHeard is how many foreign locks a client waits for with a connection each. For more it asks now and then.
const mostHeard = poolSize * 3 / 4

// askEvery is the longest pause between two questions where there is no connection to hear on.
const askEvery = 250 * time.Millisecond

// newNotifier returns where the client hears that foreign locks have become free. That concerns all who wait for one.
func (g *Guest) newNotifier() *notifier {
	p := emptyNotifier()
	p.channels = &lockChannels{subscriptions: make(map[string]*lockSubscription), used: p.hasMailboxes, open: func(lock string) *subscription {
		tell := func() { p.askAgain(lock) }
		return subscribe(func(ctx context.Context, listening func()) error {
			return g.conn.Listen(ctx, g.form(lock).signal, listening, func(string) { tell() })
		}, tell)
	}}
	return p
}

// Wait blocks until the lock may have become free, as [driver.Waiter] says. Of a claim that has it there is nothing to
// hear: renewals tell.
func (g *Guest) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	if c.Token != 0 {
		select {
		case <-ctx.Done():
			return driver.Status{}, ctx.Err()
		case <-g.notifier.closed:
			return driver.Status{}, driver.ErrClosed
		}
	}
	if g.opts.Layout == PythonRedisLock {
		return driver.Status{}, g.pop(ctx, g.form(c.Name).signal)
	}
	return g.hear(ctx, c)
}

// Listen implements [driver.Listener] for a layout in which nobody tells of claims that have their lock. Renewals find out what
// became of one, as they do where somebody waits; but waiting takes a goroutine for each.
func (g *Guest) Listen(ctx context.Context, _ driver.Claim, _ func()) (stop func(), err error) {
	return func() {}, ctx.Err()
}

// hear waits for a message. The first time it returns when it listens, since the lock may have become free before.
func (g *Guest) hear(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if g.notifier.address(c.Name) == nowhere && g.notifier.channels.(*lockChannels).many() {
		return driver.Status{}, driver.Pause(ctx, askEvery)
	}
	if again, err := g.notifier.untold(ctx, c); again || err != nil {
		return driver.Status{}, explain(err)
	}
	return g.notifier.wait(ctx, c.ID)
}

// popFor is how long one BLPOP blocks: less than clients allow for an answer.
const popFor = time.Second

// pop takes a signal from a list. Each wakes one client, so nobody takes one who does not wait.
func (g *Guest) pop(ctx context.Context, list string) error {
	select {
	case g.popping <- struct{}{}:
		defer func() { <-g.popping }()
	default:
		return driver.Pause(ctx, askEvery)
	}
	for {
		heard, err := g.popOnce(ctx, list, popFor)
		if heard || err != nil {
			return err
		}
	}
}

// popOnce waits for a signal for some time, and reports whether there was one.
func (g *Guest) popOnce(ctx context.Context, list string, wait time.Duration) (bool, error) {
	cmd := Command{Head: []string{"BLPOP"}, Keys: []string{list}, Tail: []string{strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)}}
	reply := g.conn.DoTogether(ctx, []Command{cmd})[0]
	return len(reply.Values) > 0, explain(reply.Err)
}

// tryToHear waits for a signal as Wait does, for as short as can be, or begins to listen.
func (g *Guest) tryToHear(ctx context.Context, lock string) error {
	if g.opts.Layout == PythonRedisLock {
		_, err := g.popOnce(ctx, g.form(lock).signal, time.Millisecond)
		return err
	}
	return g.notifier.ready(ctx, lock)
}
