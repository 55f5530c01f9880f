package redislock

import (
	"context"
	"slices"
	"sync"
)

// A pipeliner sends commands on connections where a WAIT follows them. While the server waits for replicas, such a
// connection serves nobody else. Commands that come meanwhile are collected, and go afterwards as one pipeline with one
// WAIT behind it, so a pipeliner needs one connection, however many callers there are. Requests and renewals have one
// each, so that many requests keep no lease from being renewed. In a cluster, commands for different locks cannot share
// a connection; there a pipeliner has a few connections.
type pipeliner struct {
	conn  Conn
	wait  Command
	slots chan struct{} // in a cluster: one for each call under way

	mu      sync.Mutex
	next    *pipeline // the one that still takes calls, or nil
	sending bool      // there is a goroutine that sends pipelines
}

// clusterConns is how many connections a pipeliner has in a cluster. Both together have fewer than the pool of a node,
// which subscriptions need as well.
const clusterConns = poolSize/2 - 1

func newPipeliner(conn Conn, wait Command) *pipeliner {
	return &pipeliner{conn: conn, wait: wait, slots: make(chan struct{}, clusterConns)}
}

// A pipeline is the commands of several calls on one connection.
type pipeline struct {
	calls []*call
	done  chan struct{}
	reply Reply // to WAIT
}

// A call is the commands of one caller.
type call struct {
	ctx     context.Context
	cmds    []Command
	replies []Reply
}

// send sends commands and answers each, and then WAIT, while ctx allows.
func (l *pipeliner) send(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	if l.conn.Cluster() {
		return l.sendAlone(ctx, cmds)
	}
	c := &call{ctx: ctx, cmds: cmds}
	p := l.join(c)
	select {
	case <-p.done:
		if c.replies != nil { // else this call was given up before the pipeline went
			return c.replies, p.reply
		}
	case <-ctx.Done():
	}
	return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
}

// sendAlone sends commands with a WAIT of their own, when a slot is free.
func (l *pipeliner) sendAlone(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
	}
	all := l.conn.DoTogether(ctx, append(slices.Clip(cmds), l.wait))
	return all[:len(cmds)], all[len(cmds)]
}

// failed returns the same error for each of some commands.
func failed(cmds []Command, err error) []Reply {
	replies := make([]Reply, len(cmds))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// join adds a call to the next pipeline. The first call after a pause starts the goroutine that sends.
func (l *pipeliner) join(c *call) *pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = &pipeline{done: make(chan struct{})}
	}
	l.next.calls = append(l.next.calls, c)
	if !l.sending {
		l.sending = true
		go l.sendAll()
	}
	return l.next
}

// sendAll sends pipelines until nobody waits for one.
func (l *pipeliner) sendAll() {
	for p := l.take(); p != nil; p = l.take() {
		p.send(l.conn, l.wait)
	}
}

// take returns the next pipeline. If there is none, the goroutine that sends ends.
func (l *pipeliner) take() *pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.next
	l.next, l.sending = nil, p != nil
	return p
}

// send sends the calls that have not given up, for as long as one of them waits for an answer.
func (p *pipeline) send(conn Conn, wait Command) {
	defer close(p.done)
	// Here, when the connection is free, and not when they joined: a call may have been given up in the queue, and then
	// must not be sent.
	p.calls = slices.DeleteFunc(p.calls, func(c *call) bool { return c.ctx.Err() != nil })
	if len(p.calls) == 0 {
		return
	}
	ctx, cancel := wanted(p.calls)
	defer cancel()
	var cmds []Command
	for _, c := range p.calls {
		cmds = append(cmds, c.cmds...)
	}
	all := conn.DoTogether(ctx, append(cmds, wait))
	for _, c := range p.calls {
		c.replies, all = all[:len(c.cmds):len(c.cmds)], all[len(c.cmds):]
	}
	p.reply = all[0]
}

// wanted returns a context that ends when the contexts of all calls have ended. It has the values of the first.
func wanted(calls []*call) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(calls[0].ctx))
	var mu sync.Mutex
	left := len(calls)
	var stops []func() bool
	for _, c := range calls {
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
