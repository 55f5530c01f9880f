package redislock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

// clusterConn is a Conn to a cluster on a rueidis client, which follows MOVED and ASK by itself: both say that nothing was
// done.
type clusterConn struct{ rueidisConn }

// ListenShard shares the connection on which requests go to a node. It ends with the node, and when the slot moves.
func (c clusterConn) ListenShard(ctx context.Context, channel string, listening func(), heard func(string)) error {
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "ssubscribe" {
			listening()
		}
	})
	subscribe := c.client.B().Ssubscribe().Channel(channel).Build()
	err := c.client.Receive(hooked, subscribe, func(m rueidis.PubSubMessage) { heard(m.Message) })
	if ctx.Err() != nil {
		c.unsubscribe(channel)
	}
	return rueidisError(err)
}

// unsubscribe has the server forget a channel that nobody listens to any more.
func (c clusterConn) unsubscribe(channel string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.client.Do(ctx, c.client.B().Sunsubscribe().Channel(channel).Build()) // if that fails, the connection is gone, and with it the subscription
}

// A steady is a Conn to a cluster whose slots may move. Scripts use several keys, so while those of a lock are moving, some
// here and some there, neither node runs them. They say so before they do anything, and are asked again until it is over.
type steady struct{ Conn }

// Pauses between two attempts while a slot moves, and how long that may take before it is reported.
const (
	firstMovingPause = 2 * time.Millisecond
	lastMovingPause  = 50 * time.Millisecond
	movingPatience   = 10 * time.Second
)

func (s steady) Do(ctx context.Context, cmd Command) ([]string, error) {
	r := s.retry(ctx, []Command{cmd}, func(ctx context.Context, cmds []Command) []Reply {
		values, err := s.Conn.Do(ctx, cmds[0])
		return []Reply{{values, err}}
	})
	return r[0].Values, r[0].Err
}

func (s steady) DoMany(ctx context.Context, cmds []Command) []Reply {
	return s.retry(ctx, cmds, s.Conn.DoMany)
}

// DoTogether repeats all of them if the first did not run: the others are about it.
func (s steady) DoTogether(ctx context.Context, cmds []Command) []Reply {
	giveUp := time.Now().Add(movingPatience)
	for pause := firstMovingPause; ; pause = min(2*pause, lastMovingPause) {
		replies := s.Conn.DoTogether(ctx, cmds)
		if !slices.ContainsFunc(replies, isMoving) || time.Now().After(giveUp) || driver.Sleep(ctx, pause) != nil {
			return replies
		}
	}
}

// retry sends commands until all were run, each once.
func (s steady) retry(ctx context.Context, cmds []Command, send func(context.Context, []Command) []Reply) []Reply {
	replies := send(ctx, cmds)
	giveUp := time.Now().Add(movingPatience)
	for pause := firstMovingPause; slices.ContainsFunc(replies, isMoving); pause = min(2*pause, lastMovingPause) {
		if time.Now().After(giveUp) || driver.Sleep(ctx, pause) != nil {
			break
		}
		var again []Command
		var at []int
		for i, r := range replies {
			if isMoving(r) {
				again, at = append(again, cmds[i]), append(at, i)
			}
		}
		for i, r := range send(ctx, again) {
			replies[at[i]] = r
		}
	}
	return replies
}

// isMoving reports whether a node did not run a command since the slot of its keys is moving, or has moved.
func isMoving(r Reply) bool {
	reply, ok := errors.AsType[ReplyError](r.Err)
	if !ok {
		return false
	}
	return strings.HasPrefix(string(reply), "TRYAGAIN") || strings.HasPrefix(string(reply), "MOVED ") || strings.HasPrefix(string(reply), "ASK ")
}
