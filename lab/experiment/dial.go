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

// dial returns a client of a Redis server that never repeats a request by itself. It waits for each answer for a time.
func dial(addr string, patience time.Duration) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1, ReadTimeout: patience})
}

// How long clients wait for an answer: on a busy machine, and where no answer will come.
const (
	patient = 10 * time.Second
	hasty   = 500 * time.Millisecond
)
