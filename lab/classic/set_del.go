package classic

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetThenDel creates the key and its time to live in one request, and gives the lock back by deleting the key, whoever
// made it. It assumes that the work takes less time than the key lives. It breaks when it takes longer: the lock has
// passed to B by then, A deletes B's key, and C enters beside B.
type SetThenDel struct {
	Redis *redis.Client
	Key   string
	TTL   time.Duration
}

// TryLock reports whether the lock is ours now.
func (l SetThenDel) TryLock(ctx context.Context) (bool, error) {
	return setNX(ctx, l.Redis, l.Key, "locked", l.TTL)
}

// Unlock gives it back, or somebody else's.
func (l SetThenDel) Unlock(ctx context.Context) error { return l.Redis.Del(ctx, l.Key).Err() }

// setNX is SET key value NX PX ttl.
func setNX(ctx context.Context, rdb *redis.Client, key, value string, ttl time.Duration) (bool, error) {
	switch err := rdb.SetArgs(ctx, key, value, redis.SetArgs{Mode: "NX", TTL: ttl}).Err(); err {
	case nil:
		return true, nil
	case redis.Nil:
		return false, nil
	default:
		return false, err
	}
}
