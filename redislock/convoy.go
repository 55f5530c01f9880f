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
	next    *convoy // that takes commands still; nil when there is none
	driving bool    // there is a goroutine that sends convoys
}

// laneWidth is how many connections a lane has in a cluster. Both lanes together have fewer than there are for one node.
const laneWidth = poolSize/2 - 1

func newLane(conn Conn, wait Command) *lane {
	return &lane{conn: conn, wait: wait, room: make(chan struct{}, laneWidth)}
}

// A convoy is what goes together.
type convoy struct {
	riders []*rider
	done   chan struct{}
	reply  Reply // to WAIT
}

// A rider is the commands of one call.
type rider struct {
	ctx     context.Context
	cmds    []Command
	replies []Reply
}

// send sends commands and answers each, and then WAIT, while ctx allows.
func (l *lane) send(ctx context.Context, cmds []Command) (replies []Reply, wait Reply) {
	if l.conn.Cluster() {
		return l.sendAlone(ctx, cmds)
	}
	r := &rider{ctx: ctx, cmds: cmds}
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

func (l *lane) join(r *rider) *convoy {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = &convoy{done: make(chan struct{})}
	}
	l.next.riders = append(l.next.riders, r)
	if !l.driving {
		l.driving = true
		go l.drive()
	}
	return l.next
}

// drive sends convoys until nobody waits for one.
func (l *lane) drive() {
	for c := l.take(); c != nil; c = l.take() {
		c.leave(l.conn, l.wait)
	}
}

func (l *lane) take() *convoy {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.next
	l.next, l.driving = nil, c != nil
	return c
}

// leave sends what is still wanted, for as long as somebody waits for an answer.
func (c *convoy) leave(conn Conn, wait Command) {
	defer close(c.done)
	c.riders = slices.DeleteFunc(c.riders, func(r *rider) bool { return r.ctx.Err() != nil })
	if len(c.riders) == 0 {
		return
	}
	ctx, cancel := wanted(c.riders)
	defer cancel()
	var cmds []Command
	for _, r := range c.riders {
		cmds = append(cmds, r.cmds...)
	}
	all := conn.DoTogether(ctx, append(cmds, wait))
	for _, r := range c.riders {
		r.replies, all = all[:len(r.cmds):len(r.cmds)], all[len(r.cmds):]
	}
	c.reply = all[0]
}

// wanted returns a context that ends when those of all riders have. It has the values of the first.
func wanted(riders []*rider) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(riders[0].ctx))
	var mu sync.Mutex
	left := len(riders)
	var stops []func() bool
	for _, r := range riders {
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
