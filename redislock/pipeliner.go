package redislock

import (
	"context"
	"slices"
	"sync"
)

// A pipeliner sends commands on connections where a WAIT follows them. While the server waits for replicas, such a
// connection serves nobody else. Commands that come meanwhile are collected, and go afterwards as one pipeline with one
// WAIT behind it, so a pipeliner needs one connection, however many callers there are, unless that may be dead.
// Requests and renewals have one each, so that many requests keep no lease from being renewed. In a cluster, commands
// for different locks cannot share a connection; there a pipeliner has a few connections to each node.
type pipeliner struct {
	conn Conn
	wait Command

	mu      sync.Mutex
	next    *pipeline // the one that still takes calls, or nil
	current *pipeline // the one for whose answers next waits, or nil
	sender  int       // tells the goroutine that sends pipelines from those before it
	sending bool      // there is one
	flying  int       // pipelines that were sent and are not answered

	places map[string]chan struct{} // in a cluster: for the calls under way at each node
}

// mostFlying bounds how many connections a pipeliner takes while one of them may be dead.
const mostFlying = 3

// clusterConns is how many connections a pipeliner has to a node of a cluster. Both together have fewer than the pool
// of a node, which subscriptions need as well.
const clusterConns = poolSize/2 - 1

func newPipeliner(conn Conn, wait Command) *pipeliner {
	return &pipeliner{conn: conn, wait: wait, places: make(map[string]chan struct{})}
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
		l.goOn(p)
	}
	return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
}

// sendAlone sends commands with a WAIT of their own, when there is a place at their node.
func (l *pipeliner) sendAlone(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	places := l.placesAt(nodeOf(l.conn, cmds[0].Keys[0]))
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
	}
	all := l.conn.DoTogether(ctx, append(slices.Clip(cmds), l.wait))
	return all[:len(cmds)], all[len(cmds)]
}

// placesAt takes an element for each call under way at a node. Those of nodes that are gone stay: they are few.
func (l *pipeliner) placesAt(node string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	places := l.places[node]
	if places == nil {
		places = make(chan struct{}, clusterConns)
		l.places[node] = places
	}
	return places
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
		l.begin()
	}
	return l.next
}

// begin starts a goroutine that sends, in the place of the one before. mu is held.
func (l *pipeliner) begin() {
	l.sending = true
	l.sender++
	go l.sendAll(l.sender)
}

// sendAll sends pipelines until nobody waits for one, or another goroutine does.
func (l *pipeliner) sendAll(sender int) {
	for p := l.take(sender); p != nil; p = l.take(sender) {
		p.send(l.conn, l.wait)
		l.landed()
	}
}

// take returns the next pipeline. If there is none, the goroutine that sends ends.
func (l *pipeliner) take(sender int) *pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sender != l.sender {
		return nil
	}
	p := l.next
	l.next, l.current, l.sending = nil, p, p != nil
	if p != nil {
		l.flying++
	}
	return p
}

func (l *pipeliner) landed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying--
}

// goOn is for a call that was given up. The pipeline that is under way may be on a dead connection, and who is in it
// may wait for longer than those who come next, so these go over another one.
func (l *pipeliner) goOn(p *pipeline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case p != l.current && p != l.next, l.flying == mostFlying:
	case l.next != nil:
		l.begin()
	default: // the next call does
		l.sending = false
		l.sender++
	}
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
