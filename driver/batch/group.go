package batch

import (
	"context"
	"time"
)

// A group is the calls of one call of Go. The Sender's lock guards it.
type group struct {
	calls []*call
	left  int         // calls without an answer
	stop  func() bool // ends the wait for the end of the context
	timer *time.Timer // of the limit; nil: there is none
}

// newGroup makes a group that is given up when ctx or limit has ended. The Sender's lock is held until it has
// its calls.
func (s *Sender) newGroup(ctx context.Context, limit time.Duration) *group {
	g := &group{}
	g.stop = context.AfterFunc(ctx, func() { s.giveUpAll(ctx.Err(), g) })
	if limit > 0 {
		g.timer = time.AfterFunc(limit, func() { s.giveUpAll(context.DeadlineExceeded, g) })
	}
	return g
}

// giveUpAll ends those calls of a group that have no answer yet.
func (s *Sender) giveUpAll(why error, g *group) {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range g.calls {
		s.abandon(c, why)
	}
}

func (g *group) add(c *call) {
	c.group = g
	g.calls = append(g.calls, c)
	g.left++
}

// answered counts an answer. After the last nothing is left to be given up.
func (g *group) answered() {
	if g.left--; g.left > 0 {
		return
	}
	g.stop()
	if g.timer != nil {
		g.timer.Stop()
	}
}
