// Package contender puts the lock libraries that are compared behind one small interface, each in its own file.
package contender

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// TTL is the time to live that every contender gives its locks on Redis: Holdfast's default.
const TTL = 15 * time.Second

// SessionTTL is that of every contender where locks live by sessions: what etcd gives its own. No session is renewed
// while requests are counted.
const SessionTTL = time.Minute

// A Contender is a lock library under measurement.
type Contender struct {
	Name   string // for people
	Module string // the module whose version is measured
	Note   string // the options that it was given beyond its defaults
	Waits  bool   // Lock waits for a lock that is taken; otherwise only locks that are free can be measured
	Alone  bool   // a client waits for one lock at a time; who waits for more needs more clients

	// Open connects a client, which shares nothing with other clients.
	Open func(ctx context.Context, addr string) (Client, error)
	// Protocol counts what its clients send.
	Protocol wire.Protocol
}

// A Cast is who is compared on one engine.
type Cast struct {
	Limit  Contender // what no lock on the engine can be faster than
	Ours   Contender
	Rivals []Contender // the libraries that ours is compared with
}

// All returns everybody who is measured, in the order of the table.
func (c Cast) All() []Contender { return append([]Contender{c.Limit, c.Ours}, c.Rivals...) }

// A Client takes locks. It is safe for concurrent use.
type Client interface {
	// Lock returns once the lock with this name is held.
	Lock(ctx context.Context, name string) (Held, error)
	Close() error
}

// Held is a lock until Unlock is called, once.
type Held interface {
	Unlock(ctx context.Context) error
}

// OnRedis are those who are compared on Redis.
func OnRedis() Cast {
	return Cast{Limit: Raw(), Ours: Holdfast(), Rivals: []Contender{Redsync(), Redislock(), Rueidislock()}}
}

// OnEtcd are those who are compared on etcd.
func OnEtcd() Cast {
	return Cast{Limit: RawEtcd(), Ours: HoldfastEtcd(), Rivals: []Contender{EtcdMutex()}}
}

// OnZooKeeper are those who are compared on ZooKeeper.
func OnZooKeeper() Cast {
	return Cast{Limit: RawZooKeeper(), Ours: HoldfastZooKeeper(), Rivals: []Contender{ZooKeeperLock()}}
}
