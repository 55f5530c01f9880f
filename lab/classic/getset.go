package classic

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// GetSet has the time at which the lock ends as the key's value, in the clock of whoever wrote it. Who finds that time
// past writes its own with GETSET, and has the lock if the value that it replaced was past as well. It assumes that all
// clients have the same time. It breaks when one is ahead: it finds locks past that are not. And who is too late
// replaces the winner's time by its own.
type GetSet struct {
	Redis *redis.Client
	Key   string
	TTL   time.Duration
	Now   func() time.Time // this client's clock

	Between func() // is called between the two last requests, if it is there
}

// TryLock reports whether the lock is ours now.
func (l GetSet) TryLock(ctx context.Context) (bool, error) {
	ours, err := l.Redis.SetNX(ctx, l.Key, l.end(), 0).Result()
	if err != nil || ours {
		return ours, err
	}
	end, err := l.Redis.Get(ctx, l.Key).Int64()
	if errors.Is(err, redis.Nil) || err == nil && !l.past(end) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if l.Between != nil {
		l.Between()
	}
	was, err := l.Redis.Do(ctx, "GETSET", l.Key, l.end()).Int64() // which the algorithm is named after
	return err == nil && l.past(was), err
}

// Unlock gives it back.
func (l GetSet) Unlock(ctx context.Context) error { return l.Redis.Del(ctx, l.Key).Err() }

func (l GetSet) end() string { return strconv.FormatInt(l.Now().Add(l.TTL).UnixMilli(), 10) }

func (l GetSet) past(end int64) bool { return end < l.Now().UnixMilli() }
