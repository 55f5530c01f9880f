package redislock

import (
	"cmp"
	"fmt"
	"net/url"
	"time"
)

// defaultPrefix begins the keys of a driver unless its options say otherwise.
const defaultPrefix = "holdfast:"

// Options adjust a driver. The zero value, or nil, is right for most.
type Options struct {
	// Prefix begins all keys: "holdfast:" if empty.
	Prefix string
	// NoPrefix makes the name of a lock its key, to share locks with other clients.
	NoPrefix bool
	// Keep is how long a lock that nobody uses is remembered: which claims of it have ended, and its last token. It is
	// never less than eight times the TTL of its claims. If it is zero, that is ten minutes where the server remembers
	// the last token of all locks, so that tokens grow whatever becomes of its clock; and an hour where it does not: in
	// a cluster, on Redlock, without a prefix, in the layouts of other libraries, and where the user may not write that
	// key. There Keep is also for how long tokens grow though the clock is set back.
	Keep time.Duration
	// Replicas is how many replicas must confirm a grant by WAIT before it counts. A grant that they do not confirm is
	// released, and a renewal that they do not confirm extends nothing. Zero means none. Replicas make it unlikely that
	// a failover loses a lock, but not impossible. With the layouts of other libraries it must be zero.
	Replicas int
	// ReplicasWithin is how long replicas may take to confirm: a second if zero.
	ReplicasWithin time.Duration

	// Layout is how locks are kept: in Holdfast's own way, or as another library keeps them.
	Layout Layout

	// Store names the server, or the group of servers, for programs that lock in several of them with LockAll. All
	// clients of one store must use the same name, and no client of another store may. It is needed only if locks have
	// the same names. A client that was opened from a URL has the URL as its name. What a server says of itself would
	// not do: its IDs change when it restarts or is replaced.
	Store string
}

// format is the number of the format of the records that the scripts write. They refuse records of any other.
const format = 1

const (
	shortKeep = 10 * time.Minute // where the server remembers the last token of all locks
	longKeep  = time.Hour
	minKeep   = time.Minute
	keepTTLs  = 8

	defaultReplicasWithin = time.Second
)

func (o *Options) orDefault() (Options, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	switch {
	case opts.NoPrefix && opts.Prefix != "":
		return opts, fmt.Errorf("options: NoPrefix and the prefix %q contradict each other; give one of them",
			opts.Prefix)
	case opts.Keep != 0 && opts.Keep < minKeep:
		return opts, fmt.Errorf("options: Keep is %v; it must be at least %v", opts.Keep, minKeep)
	case opts.Layout.check() != nil:
		return opts, opts.Layout.check()
	case opts.Replicas < 0:
		return opts, fmt.Errorf("options: Replicas is %d; it must not be negative", opts.Replicas)
	case opts.ReplicasWithin < 0 || opts.ReplicasWithin%time.Millisecond != 0:
		return opts, fmt.Errorf("options: ReplicasWithin is %v; it must be whole milliseconds, at least one",
			opts.ReplicasWithin)
	}
	if opts.ReplicasWithin == 0 {
		opts.ReplicasWithin = defaultReplicasWithin
	}
	if opts.Prefix == "" && !opts.NoPrefix && opts.Layout == Native {
		opts.Prefix = defaultPrefix
	}
	return opts, nil
}

// retention is for how long a driver remembers locks that nobody uses, and the keys of the last token of all locks and
// of the one with which that began; "" for none.
type retention struct {
	usual, apart          time.Duration // with the last token of all locks, and without
	lastToken, firstToken string
}

// retention chooses it. The keys of a cluster are on several servers, and a key of ours without a prefix might be that
// of a lock.
func (o *Options) retention(cluster bool) retention {
	r := retention{usual: cmp.Or(o.Keep, longKeep), apart: cmp.Or(o.Keep, longKeep)}
	if !cluster && !o.NoPrefix && o.Layout == Native {
		r.usual = cmp.Or(o.Keep, shortKeep)
		r.lastToken, r.firstToken = o.Prefix+"last-token", o.Prefix+"first-token"
	}
	return r
}

// channelPrefix is what the names of the clients' channels begin with.
func (o Options) channelPrefix() string { return o.Prefix + "client:" }

// blocking is for how long commands of a driver with these options may take although the connection is well.
func (o Options) blocking() time.Duration {
	switch {
	case o.Replicas > 0:
		return o.ReplicasWithin
	case o.Layout == PythonRedisLock:
		return popFor
	}
	return 0
}

// identity distinguishes prefixes and layouts: with each of them, the same name is another lock.
func (o Options) identity() string {
	if o.Store == "" || o.Prefix == defaultPrefix {
		return o.Store
	}
	return o.Store + "?" + url.Values{"layout": {string(o.Layout)}, "prefix": {o.Prefix}}.Encode()
}
