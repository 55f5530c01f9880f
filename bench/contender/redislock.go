package contender

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Redislock is bsm/redislock.
func Redislock() Contender {
	return Contender{
		Name:   "bsm/redislock",
		Module: "github.com/bsm/redislock",
		Note:   "on go-redis; LinearBackoff(100 ms) as its documentation shows, since by default Obtain does not wait",
		Waits:  true,
		Open: func(_ context.Context, addr string) (Client, error) {
			rdb := redis.NewClient(&redis.Options{Addr: addr})
			return &redislockClient{rdb, redislock.New(rdb)}, nil
		},
		Protocol: wire.Redis(nil),
	}
}

// redislockPoll is how often a waiting Obtain asks again.
const redislockPoll = 100 * time.Millisecond

type redislockClient struct {
	*redis.Client
	locks *redislock.Client
}

func (c *redislockClient) Lock(ctx context.Context, name string) (Held, error) {
	// Obtain gives up after the TTL unless its context says when.
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	l, err := c.locks.Obtain(ctx, name, TTL, &redislock.Options{RetryStrategy: redislock.LinearBackoff(redislockPoll)})
	if err != nil {
		return nil, err
	}
	return redislockHeld{l}, nil
}

type redislockHeld struct{ *redislock.Lock }

func (h redislockHeld) Unlock(ctx context.Context) error { return h.Release(ctx) }
