package redislock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// A notifier has callers told what happens to their claims: it listens on the channels of this client, and what comes
// there waits in the inbox until somebody collects it.
type notifier struct {
	*inbox
	channels
}

// newNotifier returns a notifier for the client with this id. prefix is what the names of channels for all locks
// begin with, and keysOf finds the keys of a lock, in whose slot there may be a channel for it alone.
func newNotifier(conn Conn, prefix string, keysOf func(lock string) (keys, error), id string) *notifier {
	in := newInbox()
	if shards, ok := conn.(ShardListener); ok {
		feeds := shardFeeds{conn: shards, keysOf: keysOf, id: id, inbox: in}
		return &notifier{in, newLockChannels(sharded+id, feeds.of, in.expects)}
	}
	return &notifier{in, &clientChannel{id: id, feed: clientFeed{conn: conn, channel: prefix + id, inbox: in}}}
}

// prepare listens, where that comes before the first request of a claim that would wait.
func (n *notifier) prepare(ctx context.Context, c driver.Claim) error {
	if n.eager() {
		return n.ready(ctx, c.Name)
	}
	return nil
}

// extend keeps the mailbox of a claim that is about to be requested. It comes before the request: what the server
// tells may be here before its answer.
func (n *notifier) extend(c driver.Claim, follow bool) {
	n.inbox.extend(c, follow, n.address(c.Name) != nowhere)
}

// listenFor listens for a claim whose record does not say yet where to tell of it. Then the claim must be requested
// again, with an address, and again is true.
func (n *notifier) listenFor(ctx context.Context, c driver.Claim) (again bool, err error) {
	if n.isAddressed(c) {
		return false, nil
	}
	return true, n.ready(ctx, c.Name)
}

// close ends all waits, and stops listening.
func (n *notifier) close() {
	n.inbox.close()
	n.channels.close()
}
