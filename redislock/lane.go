package redislock

import (
	"context"
	"slices"
	"sync"
)

// A lane leads commands to the server on connections where a WAIT follows them. While it waits, such a connection serves
// nobody else, so what comes meanwhile goes together afterwards, with one WAIT behind all of it: the lane needs one connection,
// however many ask. Requests and renewals have a lane each, so that a crowd that asks keeps no lease from being renewed. In a
// cluster commands for different locks cannot go together; there a lane has a few connections.
type lane struct {
	conn Conn
	wait Command
	room chan struct{} // in a cluster, for who may be under way

	mu      sync.Mutex
	next    *pipeline // that takes commands still; nil when there is none
	driving bool      // there is a goroutine that sends pipelines
}

// laneWidth is how many connections a lane has in a cluster. Both lanes together have fewer than there are for one node.
const laneWidth = poolSize/2 - 1

func newLane(conn Conn, wait Command) *lane {
	return &lane{conn: conn, wait: wait, room: make(chan struct{}, laneWidth)}
}

// A pipeline is what goes together.
type pipeline struct {
	calls []*call
	done  chan struct{}
	reply Reply // to WAIT
}

// A call is the commands of one call.
type call struct {
	ctx     context.Context
	cmds    []Command
	replies []Reply
}

// send sends commands and answers each, and then WAIT, while ctx allows.
func (l *lane) send(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	if l.conn.Cluster() {
		return l.sendAlone(ctx, cmds)
	}
	r := &call{ctx: ctx, cmds: cmds}
	c := l.join(r)
	select {
	case <-c.done:
		if r.replies != nil {
			return r.replies, c.reply
		}
	case <-ctx.Done():
	}
	return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
}

func (l *lane) sendAlone(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	select {
	case l.room <- struct{}{}:
		defer func() { <-l.room }()
	case <-ctx.Done():
		return failed(cmds, ctx.Err()), Reply{Err: ctx.Err()}
	}
	all := l.conn.DoTogether(ctx, append(slices.Clip(cmds), l.wait))
	return all[:len(cmds)], all[len(cmds)]
}

// failed answers commands that were given up.
func failed(cmds []Command, err error) []Reply {
	replies := make([]Reply, len(cmds))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

func (l *lane) join(r *call) *pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = &pipeline{done: make(chan struct{})}
	}
	l.next.calls = append(l.next.calls, r)
	if !l.driving {
		l.driving = true
		go l.drive()
	}
	return l.next
}

// drive sends pipelines until nobody waits for one.
func (l *lane) drive() {
	for c := l.take(); c != nil; c = l.take() {
		c.leave(l.conn, l.wait)
	}
}

func (l *lane) take() *pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.next
	l.next, l.driving = nil, c != nil
	return c
}

// leave sends what is still wanted, for as long as somebody waits for an answer.
func (c *pipeline) leave(conn Conn, wait Command) {
	defer close(c.done)
	c.calls = slices.DeleteFunc(c.calls, func(r *call) bool { return r.ctx.Err() != nil })
	if len(c.calls) == 0 {
		return
	}
	ctx, cancel := wanted(c.calls)
	defer cancel()
	var cmds []Command
	for _, r := range c.calls {
		cmds = append(cmds, r.cmds...)
	}
	all := conn.DoTogether(ctx, append(cmds, wait))
	for _, r := range c.calls {
		r.replies, all = all[:len(r.cmds):len(r.cmds)], all[len(r.cmds):]
	}
	c.reply = all[0]
}

// wanted returns a context that ends when those of all calls have. It has the values of the first.
func wanted(calls []*call) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(calls[0].ctx))
	var mu sync.Mutex
	left := len(calls)
	var stops []func() bool
	for _, r := range calls {
		stops = append(stops, context.AfterFunc(r.ctx, func() {
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
