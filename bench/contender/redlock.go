package contender

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	redsyncgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/wire"
	_ "github.com/holdfast-go/holdfast/quorum" // the scheme redlock
)

// RedlockTTL is the time to live that every contender gives its locks on several servers. Holdfast's first lock waits
// for so long, since servers that have just started may have forgotten locks.
const RedlockTTL = 5 * time.Second

// OnRedlock are those who are compared on several Redis servers.
func OnRedlock() Cast {
	return Cast{Limit: RawRedlock(), Ours: HoldfastRedlock(), Rivals: []Contender{RedsyncRedlock()}}
}

// HoldfastRedlock is Holdfast on several Redis servers.
func HoldfastRedlock() Contender {
	c := ours("redlock://", RedlockTTL, "maxttl=5s and a TTL of 5 s", wire.Redis(nil))
	c.Open = func(ctx context.Context, addr string) (Client, error) {
		client, err := holdfast.Open(ctx, "redlock://"+addr+"?maxttl="+RedlockTTL.String(),
			holdfast.WithTTL(RedlockTTL))
		if err != nil {
			return nil, err
		}
		return holdfastClient{client}, nil
	}
	return c
}

// RedsyncRedlock is go-redsync/redsync v4 on several servers.
func RedsyncRedlock() Contender {
	c := Redsync()
	c.Note = "on go-redis, a pool for each server; WithTries without end, since by default Lock gives up after 32 " +
		"tries; a TTL of 5 s"
	c.Open = func(_ context.Context, addr string) (Client, error) {
		client := &redsyncRedlock{}
		var pools []redis.Pool
		for server := range strings.SplitSeq(addr, ",") {
			rdb := goredis.NewClient(&goredis.Options{Addr: server})
			client.servers = append(client.servers, rdb)
			pools = append(pools, redsyncgoredis.NewPool(rdb))
		}
		client.sync = redsync.New(pools...)
		return client, nil
	}
	return c
}

type redsyncRedlock struct {
	servers []*goredis.Client
	sync    *redsync.Redsync
}

func (c *redsyncRedlock) Lock(ctx context.Context, name string) (Held, error) {
	return lockRedsync(ctx, c.sync, name, RedlockTTL)
}

func (c *redsyncRedlock) Close() (err error) {
	for _, rdb := range c.servers {
		err = errors.Join(err, rdb.Close())
	}
	return err
}
