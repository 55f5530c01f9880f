package experiment

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

func init() { redis.SetLogger(quiet{}) }

// quiet drops what the client says of servers that are down on purpose.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// dial returns a client of a Redis server that never repeats a request by itself, and waits half a second for each answer.
func dial(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1, ReadTimeout: 500 * time.Millisecond,
	})
}
