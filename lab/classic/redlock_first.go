package classic

import (
	"cmp"
	"context"
	"time"
)

// FirstRedlock is [Redlock] as its first clients wrote it: they ask one server after the other, an error of one fails
// all, and whoever failed tries again after a delay that is always the same. It assumes that all servers are up and
// fast. It breaks when one is down, which is what several servers were to help against; when one hangs, the time that
// others were given runs out meanwhile.
type FirstRedlock struct {
	Redlock
	Delay time.Duration
}

// Lock tries until the lock is ours or ctx ends, and returns how often it has tried, and the last error.
func (l FirstRedlock) Lock(ctx context.Context) (attempts int, err error) {
	for attempts = 1; ; attempts++ {
		ours, failed := l.TryLock(context.WithoutCancel(ctx)) // an attempt is not broken off
		if ours {
			return attempts, nil
		}
		select {
		case <-ctx.Done():
			return attempts, cmp.Or(failed, ctx.Err())
		case <-time.After(l.Delay):
		}
	}
}

// TryLock reports whether the lock is ours now.
func (l FirstRedlock) TryLock(ctx context.Context) (bool, error) {
	began, votes := time.Now(), 0
	for _, node := range l.Nodes {
		yes, err := SetCompareDelete{node, l.Key, l.Value, l.TTL}.TryLock(ctx)
		if err != nil {
			_ = l.Unlock(ctx)
			return false, err
		}
		if yes {
			votes++
		}
	}
	if votes > len(l.Nodes)/2 && time.Since(began) < l.TTL {
		return true, nil
	}
	return false, l.Unlock(ctx)
}
