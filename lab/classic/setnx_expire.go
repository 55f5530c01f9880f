package classic

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetNXThenExpire gives the key of [SetNX] a time to live, in a second request. It assumes that nobody crashes
// between the two. It breaks when somebody does: then the key has no time to live, and stays for ever.
type SetNXThenExpire struct {
	Redis *redis.Client
	Key   string
	TTL   time.Duration

	Between func() // is called between the two requests, if it is there
}

// TryLock reports whether the lock is ours now.
func (l SetNXThenExpire) TryLock(ctx context.Context) (bool, error) {
	ours, err := l.Redis.SetNX(ctx, l.Key, 1, 0).Result()
	if err != nil || !ours {
		return false, err
	}
	if l.Between != nil {
		l.Between()
	}
	return true, l.Redis.Expire(ctx, l.Key, l.TTL).Err()
}

// Unlock gives it back.
func (l SetNXThenExpire) Unlock(ctx context.Context) error { return l.Redis.Del(ctx, l.Key).Err() }
