package classic

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SetNX takes the lock by creating a key, and gives it back by deleting that. It assumes that every holder lives to
// give the lock back. It breaks when one crashes: the key stays for ever, and so everybody waits for ever.
type SetNX struct {
	Redis *redis.Client
	Key   string
}

// TryLock reports whether the lock is ours now.
func (l SetNX) TryLock(ctx context.Context) (bool, error) {
	return l.Redis.SetNX(ctx, l.Key, 1, 0).Result()
}

// Unlock gives it back.
func (l SetNX) Unlock(ctx context.Context) error { return l.Redis.Del(ctx, l.Key).Err() }
