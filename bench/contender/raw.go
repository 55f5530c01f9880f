package contender

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// compareAndDelete ends a lock that is still ours.
//
//go:embed compare_and_delete.lua
var compareAndDelete string

// Raw is the limit: the two requests that any lock on Redis needs, SET NX PX and a script that compares and deletes,
// with nothing around them. It keeps no queue, no fencing token and no lease, and cannot wait.
func Raw() Contender {
	return Contender{
		Name:   "raw",
		Module: "github.com/redis/rueidis",
		Note: "SET NX PX, then compare-and-delete with EVALSHA, on the Redis client that Holdfast uses, set up in " +
			"the same way",
		Open: openRaw,

		Protocol: wire.Redis(nil),
	}
}

var (
	errRawTaken = errors.New("raw: the lock is taken, and it cannot wait")
	errRawGone  = errors.New("raw: the lock was gone")
)

// bufferSize is what Holdfast gives its connections. By default rueidis takes sixteen times as much, which is too much
// for hundreds of clients in one process.
const bufferSize = 64 << 10

type raw struct {
	redis   rueidis.Client
	release *rueidis.Lua
	last    atomic.Uint64
}

func openRaw(_ context.Context, addr string) (Client, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress:         []string{addr},
		ForceSingleClient:   true,
		DisableRetry:        true,
		DisableCache:        true,
		PipelineMultiplex:   -1, // one connection, as redislock has
		ReadBufferEachConn:  bufferSize,
		WriteBufferEachConn: bufferSize,
	})
	if err != nil {
		return nil, err
	}
	return &raw{redis: client, release: rueidis.NewLuaScript(compareAndDelete)}, nil
}

func (r *raw) Lock(ctx context.Context, name string) (Held, error) {
	id := strconv.FormatUint(r.last.Add(1), 36)
	set := r.redis.B().Set().Key(name).Value(id).Nx().Px(TTL).Build()
	if err := r.redis.Do(ctx, set).Error(); err != nil {
		return nil, err
	}
	return &rawHeld{client: r, name: name, id: id}, nil
}

func (r *raw) Close() error {
	r.redis.Close()
	return nil
}

type rawHeld struct {
	client   *raw
	name, id string
}

func (h *rawHeld) Unlock(ctx context.Context) error {
	deleted, err := h.client.release.Exec(ctx, h.client.redis, []string{h.name}, []string{h.id}).AsInt64()
	if err == nil && deleted != 1 {
		return errRawGone
	}
	return err
}
