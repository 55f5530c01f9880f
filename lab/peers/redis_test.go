package peers

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/lab/bench/contender"

	_ "github.com/holdfast-go/holdfast/redislock"
)

// together is how long two of ours and two of theirs share a lock.
func together() time.Duration {
	if os.Getenv("HOLDFAST_SOAK") != "" {
		return time.Minute
	}
	return 3 * time.Second
}

// fewest is how often each must have been inside. They ask now and then, so the lock has to be free now and then, and on a
// busy machine few of their questions come at such a time.
const fewest = 1

// The libraries that follow the published pattern SET key value NX PX and ours share a lock: never are two inside, and
// all have their turns.
func TestPublishedPattern(t *testing.T) {
	for key, peer := range map[string]contender.Contender{
		"jobs/redsync":       contender.Redsync(),
		"jobs/redislock":     contender.Redislock(),
		"rueidislock:0:jobs": contender.Rueidislock(), // it begins its keys like that
	} {
		t.Run(peer.Name, func(t *testing.T) {
			t.Parallel()
			addr := servers.Redis(t).Addr
			name := key
			if peer.Name == "rueidislock" {
				name = key[len("rueidislock:0:"):]
			}
			ctx, cancel := context.WithTimeout(t.Context(), together())
			defer cancel()
			room := &room{t: t}
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { room.visit(ctx, "ours", ours(t, addr, key)) })
				all.Go(func() { room.visit(ctx, peer.Name, theirs(t, addr, name, peer)) })
			}
			all.Wait()
		})
	}
}

// An enter lets one in, and returns how to leave.
type enter func(context.Context) (leave func(context.Context) error, err error)

func ours(t *testing.T, addr, key string) enter {
	c, err := holdfast.Open(t.Context(), "redis://"+addr+"?prefix=")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return func(ctx context.Context) (func(context.Context) error, error) {
		lease, err := c.Mutex(key).Lock(ctx)
		if err != nil {
			return nil, err
		}
		return lease.Release, nil
	}
}

func theirs(t *testing.T, addr, name string, peer contender.Contender) enter {
	c, err := peer.Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return func(ctx context.Context) (func(context.Context) error, error) {
		held, err := c.Lock(ctx, name)
		if err != nil {
			return nil, err
		}
		return held.Unlock, nil
	}
}

// A room holds one.
type room struct {
	t      *testing.T
	inside atomic.Int32
}

// visit goes in and out until ctx ends.
func (r *room) visit(ctx context.Context, who string, enter enter) {
	visits := 0
	for ctx.Err() == nil {
		leave, err := enter(ctx)
		if err != nil {
			continue // the time is over, or they gave up
		}
		if n := r.inside.Add(1); n != 1 {
			r.t.Errorf("%s: %d were inside", who, n)
		}
		time.Sleep(rand.N(3 * time.Millisecond)) // the section
		r.inside.Add(-1)
		if err := leave(context.Background()); err != nil {
			r.t.Errorf("%s: leaving: %v", who, err)
		}
		visits++
		time.Sleep(rand.N(30 * time.Millisecond)) // so that the lock is free now and then
	}
	r.t.Logf("%s: %d visits", who, visits)
	if visits < fewest {
		r.t.Errorf("%s: %d visits", who, visits)
	}
}
