package foreign

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Redsync is redsync on go-redis. The other two are a program in Python that sends the commands of these libraries.
var (
	Redsync         = Program{Name: "redsync", start: self("redsync", nothing)}
	PythonRedisLock = Program{Name: "python-redis-lock", start: sender("python-redis-lock")}
	Redisson        = Program{Name: "Redisson", start: sender("redisson")}
)

type syncing struct {
	sync *redsync.Redsync
	ttl  time.Duration
}

func openRedsync(_ string, addrs []string, ttl time.Duration) (library, error) {
	client := redis.NewClient(&redis.Options{Addr: addrs[0]})
	return syncing{redsync.New(redsyncgoredis.NewPool(client)), ttl}, nil
}

func (s syncing) lock(ctx context.Context, name string) (unlock, error) {
	m := s.sync.NewMutex(name, redsync.WithExpiry(s.ttl), redsync.WithTries(math.MaxInt))
	if err := m.LockContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = errTaken
		}
		return nil, err
	}
	return func() error {
		ok, err := m.UnlockContext(context.Background())
		if err == nil && !ok {
			err = errors.New("the lock was gone")
		}
		return err
	}, nil
}

func (s syncing) die() {}

// sender is the program of redislock's tests that sends what another library sends.
func sender(layout string) func(t testing.TB) []string {
	return func(t testing.TB) []string {
		t.Helper()
		script, err := filepath.Abs(filepath.Join("..", "..", "redislock", "testdata", "peer.py"))
		if err != nil {
			t.Fatal(err)
		}
		return []string{servers.Python(t, "redis"), "-B", script, layout, "serve"}
	}
}
