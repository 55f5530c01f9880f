package redislock

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"
)

// A oneServer knows whether one server keeps all keys that a Conn leads to. Only then may a script be for the keys of
// several locks: a proxy, or a client, that spreads keys over several servers would send it to the server of its
// first key.
type oneServer struct {
	conn   Conn
	prefix string          // of the keys that are asked about
	open   context.Context // ends with the driver

	proven atomic.Bool
	asking atomic.Bool
	due    atomic.Int64 // when to ask, as the time since started
}

// How soon the question is asked again: what leads to one server today may lead to two tomorrow, and what does not
// answer now may answer later.
const (
	provenFor  = time.Minute
	retryProof = time.Second
)

// isProven reports what is known, without waiting. It has the question asked when the answer matters for the first
// time, and again when it is old.
func (o *oneServer) isProven() bool {
	if int64(time.Since(started)) >= o.due.Load() && o.asking.CompareAndSwap(false, true) {
		go o.ask()
	}
	return o.proven.Load()
}

// learn notes an answer, and for how long it counts.
func (o *oneServer) learn(proven bool, lasts time.Duration) {
	o.proven.Store(proven)
	o.due.Store(int64(time.Since(started) + lasts))
}

const (
	// probes is how many keys are asked about. Of keys spread evenly over two servers, all are on the same once in 2^31
	// times.
	probes        = 32
	probePatience = 5 * time.Second
)

// whichServer is a script that returns the run ID of the server that it runs on.
const whichServer = "return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')"

// ask asks where random keys lead.
func (o *oneServer) ask() {
	defer o.asking.Store(false)
	ctx, cancel := context.WithTimeout(o.open, probePatience)
	defer cancel()
	cmds := make([]Command, probes)
	for i := range cmds {
		cmds[i] = Command{Head: []string{"EVAL", whichServer, "1"}, Keys: []string{o.prefix + "{" + rand.Text() + "}"}}
	}
	proven, answered := sameServer(o.conn.DoMany(ctx, cmds))
	if !answered {
		o.learn(false, retryProof) // the server may have moved meanwhile
		return
	}
	o.learn(proven, provenFor)
}

// sameServer reports whether all replies came from one server. A server that refuses is not known to be the same.
func sameServer(replies []Reply) (proven, answered bool) {
	for _, r := range replies {
		if _, refused := errors.AsType[ReplyError](r.Err); r.Err != nil && !refused {
			return false, false
		}
	}
	for _, r := range replies {
		if r.Err != nil || len(r.Values) != 1 || r.Values[0] != replies[0].Values[0] {
			return false, true
		}
	}
	return true, true
}
