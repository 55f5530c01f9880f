package redislock

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

// A clusterConn is a Conn to a cluster on a rueidis client. The client follows MOVED and ASK by itself, which is
// safe: both say that nothing was done.
type clusterConn struct {
	rueidisConn
	slots *slotMap
}

func newClusterConn(c rueidisConn) clusterConn { return clusterConn{c, &slotMap{client: c.client}} }

// Node implements [Router].
func (c clusterConn) Node(key string) string { return c.slots.nodeOf(key) }

// ListenShard shares the connection on which requests go to a node. It ends with the node, and when the slot moves.
func (c clusterConn) ListenShard(ctx context.Context, channel string, listening func(), heard func(string)) error {
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "ssubscribe" {
			listening()
		}
	})
	reply := untilSettled(ctx, func() Reply {
		subscribe := c.client.B().Ssubscribe().Channel(channel).Build()
		received, err := apart(ctx, func() error {
			return c.client.Receive(hooked, subscribe, func(m rueidis.PubSubMessage) { heard(m.Message) })
		})
		return Reply{Err: cmp.Or(err, rueidisError(received))}
	})
	if ctx.Err() != nil {
		c.unsubscribe(channel)
	}
	return reply.Err
}

// unsubscribe has the server forget a channel that nobody listens to any more.
func (c clusterConn) unsubscribe(channel string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// If it fails, the connection is gone, and the subscription with it.
	apart(ctx, func() rueidis.RedisResult {
		return c.client.Do(ctx, c.client.B().Sunsubscribe().Channel(channel).Build())
	})
}

// A steady is a Conn to a cluster whose slots may move. Scripts use several keys, so while the keys of a lock are
// moving, some here and some there, neither node runs them. The nodes say so before they do anything, and are asked
// again until the slot has moved.
type steady struct{ Conn }

// Pauses between two attempts while a slot moves, and how long that may take before it is reported.
const (
	firstMovingPause = 2 * time.Millisecond
	lastMovingPause  = 50 * time.Millisecond
	movingPatience   = 10 * time.Second
)

func (s steady) Do(ctx context.Context, cmd Command) ([]string, error) {
	r := untilSettled(ctx, func() Reply {
		values, err := s.Conn.Do(ctx, cmd)
		return Reply{values, err}
	})
	return r.Values, r.Err
}

// DoMany repeats the commands that did not run.
func (s steady) DoMany(ctx context.Context, cmds []Command) []Reply {
	replies := s.Conn.DoMany(ctx, cmds)
	for i := range replies {
		if isMoving(replies[i].Err) {
			replies[i].Values, replies[i].Err = s.Do(ctx, cmds[i])
		}
	}
	return replies
}

// DoTogether repeats all commands if the first did not run, because the others follow from it, as WAIT does.
func (s steady) DoTogether(ctx context.Context, cmds []Command) (replies []Reply) {
	replies = make([]Reply, len(cmds))
	first := untilSettled(ctx, func() Reply {
		replies = s.Conn.DoTogether(ctx, cmds)
		return replies[0]
	})
	replies[0] = first
	return replies
}

// Node implements [Router].
func (s steady) Node(key string) string { return nodeOf(s.Conn, key) }

// nodeOf names the node that has a key; nothing where that is not known.
func nodeOf(c Conn, key string) string {
	if r, ok := c.(Router); ok {
		return r.Node(key)
	}
	return ""
}

// untilSettled sends a command until a node runs it.
func untilSettled(ctx context.Context, send func() Reply) Reply {
	giveUp := time.Now().Add(movingPatience)
	pace := driver.Backoff{First: firstMovingPause, Most: lastMovingPause}
	for {
		r := send()
		switch {
		case !isMoving(r.Err):
			return r
		case time.Now().After(giveUp), pace.Pause(ctx) != nil:
			return Reply{Err: stillMoving(r.Err)}
		}
	}
}

// stillMoving is why a command was given up that no node would run.
func stillMoving(err error) error {
	reply, _ := errors.AsType[ReplyError](err)
	return &driver.ServerError{
		Effect: driver.NotNow, Words: wordsOf(reply), Advice: movingSlot, Err: reply,
	}
}

// isMoving reports whether a node did not run a command because the slot of its keys is moving, or has moved.
func isMoving(err error) bool {
	reply, ok := errors.AsType[ReplyError](err)
	if !ok {
		return false
	}
	for _, answer := range []string{"TRYAGAIN", "MOVED ", "ASK "} {
		if strings.HasPrefix(string(reply), answer) {
			return true
		}
	}
	return false
}
