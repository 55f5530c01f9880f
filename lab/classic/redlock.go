package classic

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redlock is the algorithm as Redis publishes it: the same key on several servers that know nothing of each other, all
// asked at once. Whoever has a majority holds the lock, for as long as is left of its time to live. It assumes that
// clocks run at about the same rate and never jump, and that no process is paused for long. It breaks when a server's
// clock jumps, and when a holder is paused: two are inside, and nothing that they write tells who was first.
type Redlock struct {
	Nodes []*redis.Client
	Key   string
	Value string // random
	TTL   time.Duration
}

// TryLock reports whether the lock is ours now.
func (l Redlock) TryLock(ctx context.Context) (bool, error) {
	began := time.Now()
	var votes atomic.Int64
	l.each(func(node SetCompareDelete) {
		if yes, err := node.TryLock(ctx); err == nil && yes {
			votes.Add(1)
		}
	})
	drift := l.TTL/100 + 2*time.Millisecond
	if int(votes.Load()) > len(l.Nodes)/2 && l.TTL-time.Since(began)-drift > 0 {
		return true, nil
	}
	return false, l.Unlock(ctx)
}

// Unlock gives it back on all servers that answer.
func (l Redlock) Unlock(ctx context.Context) error {
	l.each(func(node SetCompareDelete) { _ = node.Unlock(ctx) }) // where it fails the key ends by itself
	return nil
}

func (l Redlock) each(do func(SetCompareDelete)) {
	var all sync.WaitGroup
	for _, node := range l.Nodes {
		all.Go(func() { do(SetCompareDelete{node, l.Key, l.Value, l.TTL}) })
	}
	all.Wait()
}
