package classic

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetCompareDelete is the pattern that Redis publishes for one server: a random value, and a script that deletes the
// key only if it has that value still. It assumes that the work takes less time than the key lives, and that the
// server forgets nothing. It breaks when the work takes longer or its process is paused: two are inside, and neither
// learns so. With a long time to live instead, everybody waits that long for a holder that crashed.
type SetCompareDelete struct {
	Redis *redis.Client
	Key   string
	Value string // random
	TTL   time.Duration
}

// TryLock reports whether the lock is ours now.
func (l SetCompareDelete) TryLock(ctx context.Context) (bool, error) {
	return setNX(ctx, l.Redis, l.Key, l.Value, l.TTL)
}

// Unlock gives it back if it is still ours.
func (l SetCompareDelete) Unlock(ctx context.Context) error {
	return compareDelete.Run(ctx, l.Redis, []string{l.Key}, l.Value).Err()
}

var compareDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)
