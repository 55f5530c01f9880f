package batch

import (
	"context"
	"time"
)

// A Group is the operations of one call of [Sender.Go]. The Sender's lock guards it.
type Group struct {
	sender *Sender
	calls  []*call
	left   int         // calls without an answer
	stop   func() bool // ends the wait for the end of the context
	timer  *time.Timer // of the limit; nil: there is none
}

// newGroup makes a group that is given up when ctx or limit has ended. The Sender's lock is held until it has
// its calls.
func (s *Sender) newGroup(ctx context.Context, limit time.Duration) *Group {
	g := &Group{sender: s}
	g.stop = context.AfterFunc(ctx, func() { s.giveUpAll(ctx.Err(), g) })
	if limit > 0 {
		g.timer = time.AfterFunc(limit, func() { s.late(g, limit) })
	}
	return g
}

// giveUpAll ends those calls of a group that have no answer yet.
func (s *Sender) giveUpAll(why error, g *Group) {
	s.mu.Lock()
	defer s.unlock()
	for _, c := range g.calls {
		s.abandon(c, why)
	}
}

// late gives up those calls of a group that have no answer when their limit has passed. See letsExplain.
func (s *Sender) late(g *Group, limit time.Duration) {
	s.mu.Lock()
	defer s.unlock()
	explaining := false
	for _, c := range g.calls {
		if c.state != done && s.letsExplain(c) {
			explaining = true
		}
	}
	if explaining {
		g.timer.Reset(limit / explainPart)
	}
}

// GiveUp gives up the operation at this place, as the end of the context does, unless there is an answer.
func (g *Group) GiveUp(i int) { g.sender.giveUp(context.Canceled, g.calls[i]) }

func (g *Group) add(c *call) {
	c.group = g
	g.calls = append(g.calls, c)
	g.left++
}

// answered counts an answer. After the last nothing is left to be given up.
func (g *Group) answered() {
	if g.left--; g.left > 0 {
		return
	}
	g.stop()
	if g.timer != nil {
		g.timer.Stop()
	}
}
