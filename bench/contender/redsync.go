package contender

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Redsync is go-redsync/redsync v4 on one server.
func Redsync() Contender {
	return Contender{
		Name:   "redsync",
		Module: "github.com/go-redsync/redsync/v4",
		Note:   "on go-redis; WithTries without end, since by default Lock gives up after 32 tries, about 5 s",
		Waits:  true,
		Open: func(_ context.Context, addr string) (Client, error) {
			rdb := redis.NewClient(&redis.Options{Addr: addr})
			return &redsyncClient{rdb, redsync.New(redsyncgoredis.NewPool(rdb))}, nil
		},
		Protocol: wire.Redis(nil),
	}
}

type redsyncClient struct {
	*redis.Client
	sync *redsync.Redsync
}

func (c *redsyncClient) Lock(ctx context.Context, name string) (Held, error) {
	return lockRedsync(ctx, c.sync, name, TTL)
}

func lockRedsync(ctx context.Context, r *redsync.Redsync, name string, ttl time.Duration) (Held, error) {
	m := r.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithTries(math.MaxInt))
	if err := m.LockContext(ctx); err != nil {
		return nil, err
	}
	return redsyncHeld{m}, nil
}

type redsyncHeld struct{ *redsync.Mutex }

func (h redsyncHeld) Unlock(ctx context.Context) error {
	ok, err := h.UnlockContext(ctx)
	if err == nil && !ok {
		return errors.New("redsync: the lock was gone")
	}
	return err
}
