package redislock

import "context"

// A clientFeed is the channel on which one client is told about all of its claims.
type clientFeed struct {
	conn    Conn
	channel string
	inbox   *inbox
}

func (f clientFeed) listen(ctx context.Context, confirmed func()) error {
	return f.conn.Listen(ctx, f.channel, confirmed, f.inbox.deliver)
}

func (f clientFeed) connected(again bool) {
	if again {
		f.inbox.askAll()
	} else {
		f.inbox.askUnaddressed("")
	}
}

// shardFeeds are channels on which one client is told about its claims on one lock each, in the slot of that.
type shardFeeds struct {
	conn   ShardListener
	keysOf func(lock string) (keys, error)
	id     string // of the client
	inbox  *inbox
}

func (f shardFeeds) of(lock string) feed { return shardFeed{f, lock} }

type shardFeed struct {
	shardFeeds
	lock string
}

func (f shardFeed) listen(ctx context.Context, confirmed func()) error {
	k, err := f.keysOf(f.lock)
	if err != nil {
		return err
	}
	return f.conn.ListenShard(ctx, k.claims+":"+sharded+f.id, confirmed, f.inbox.deliver)
}

func (f shardFeed) connected(again bool) {
	if again {
		f.inbox.askLock(f.lock)
	} else {
		f.inbox.askUnaddressed(f.lock)
	}
}

// signalFeeds are the channels on which another library tells that a lock has become free. That concerns all who wait
// for it, and names nobody, so each of them asks.
type signalFeeds struct {
	conn      Conn
	channelOf func(lock string) string
	inbox     *inbox
}

func (f signalFeeds) of(lock string) feed { return signalFeed{f, lock} }

type signalFeed struct {
	signalFeeds
	lock string
}

func (f signalFeed) listen(ctx context.Context, confirmed func()) error {
	return f.conn.Listen(ctx, f.channelOf(f.lock), confirmed, func(string) { f.inbox.askLock(f.lock) })
}

func (f signalFeed) connected(again bool) {
	if again {
		f.inbox.askLock(f.lock)
	}
}
