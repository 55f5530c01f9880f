package redislock

import (
	"github.com/holdfast-go/holdfast/driver"
)

// A listener tells callers what happens to their claims: it listens on the channels of this client, and the inbox
// passes on what comes there.
type listener struct {
	*inbox
	channels
}

// newListener returns a listener for the client with this id. prefix is what the names of channels for all locks
// begin with, and keysOf finds the keys of a lock, in whose slot there may be a channel for it alone.
func newListener(conn Conn, prefix string, keysOf func(lock string) (keys, error), id string) *listener {
	in := newInbox()
	if shards, ok := conn.(ShardListener); ok {
		feeds := shardFeeds{conn: shards, keysOf: keysOf, id: id, inbox: in}
		return &listener{in, newLockChannels(sharded+id, feeds.of, in.expects)}
	}
	return &listener{in, &clientChannel{id: id, feed: clientFeed{conn: conn, channel: prefix + id, inbox: in}}}
}

// extend follows a claim that is about to be requested. It comes before the request: what the server tells may be here
// before its answer.
func (l *listener) extend(c driver.Claim, always bool) {
	l.inbox.extend(c, always, l.address(c.Name) != nowhere)
}

// close ends telling, and stops listening.
func (l *listener) close() {
	l.inbox.close()
	l.channels.close()
}
