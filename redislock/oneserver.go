package redislock

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"
)

// A oneServer is whether one server keeps all keys that a Conn leads to. Only then is a script right that is for the keys of
// several locks: a proxy, or a client, that spreads keys over several servers sends it wherever its first key is.
type oneServer struct{ known atomic.Int32 }

const (
	unknown int32 = iota
	asked         // and not answered yet
	proven
	disproved
)

// isProven reports what is known. It is found out when that matters first, with keys that begin with prefix.
func (o *oneServer) isProven(conn Conn, prefix string) bool {
	known := o.known.Load()
	if known == unknown && o.known.CompareAndSwap(unknown, asked) {
		go o.ask(conn, prefix)
	}
	return known == proven
}

func (o *oneServer) disprove() { o.known.Store(disproved) }

const (
	probes        = 32 // keys that are asked about: spread over two servers, all are on the same once in 2^31 times
	probePatience = 5 * time.Second
)

// whichServer is a script that returns the run ID of the server that it runs on.
const whichServer = "return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')"

// ask asks where random keys lead.
func (o *oneServer) ask(conn Conn, prefix string) {
	ctx, cancel := context.WithTimeout(context.Background(), probePatience)
	defer cancel()
	cmds := make([]Command, probes)
	for i := range cmds {
		cmds[i] = Command{Head: []string{"EVAL", whichServer, "1"}, Keys: []string{prefix + "{" + rand.Text() + "}"}}
	}
	o.known.Store(verdict(conn.DoMany(ctx, cmds)))
}

// verdict is what the replies of the servers say.
func verdict(replies []Reply) int32 {
	for _, r := range replies {
		_, refused := errors.AsType[ReplyError](r.Err)
		switch {
		case r.Err != nil && !refused:
			return unknown
		case refused, len(r.Values) != 1, r.Values[0] != replies[0].Values[0]:
			return disproved
		}
	}
	return proven
}
