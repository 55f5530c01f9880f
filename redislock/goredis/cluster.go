package goredis

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/redislock"
)

// clusterConn is a redislock.Conn on a client of a cluster. It listens on one channel for all locks, whose messages
// go through the whole cluster: of go-redis each channel in a slot would cost a connection.
type clusterConn struct {
	conn
	cluster *redis.ClusterClient
	last    *atomic.Pointer[redis.Client] // the server on which it listened last
}

func newClusterConn(client *redis.ClusterClient) clusterConn {
	return clusterConn{conn{client}, client, new(atomic.Pointer[redis.Client])}
}

func (c clusterConn) Cluster() bool { return true }

// DoTogether sends commands to the server that has the keys of the first. Where the client is mistaken about that, it
// looks again for the next time.
func (c clusterConn) DoTogether(ctx context.Context, cmds []redislock.Command) []redislock.Reply {
	return each(ctx, cmds, func() []redislock.Reply { return c.doTogether(ctx, cmds) })
}

func (c clusterConn) doTogether(ctx context.Context, cmds []redislock.Command) []redislock.Reply {
	node, err := c.cluster.MasterForKey(ctx, cmds[0].Keys[0])
	if err != nil {
		return failed(cmds, err)
	}
	replies := conn{node}.doMany(ctx, cmds)
	answer, ok := errors.AsType[redislock.ReplyError](replies[0].Err)
	if ok && strings.HasPrefix(string(answer), "MOVED ") {
		c.cluster.ReloadState(ctx)
	}
	return replies
}

// Node implements [redislock.Router]. Where nothing is known yet of the cluster, the context keeps it from asking.
func (c clusterConn) Node(key string) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	node, err := c.cluster.MasterForKey(ctx, key)
	if err != nil {
		return ""
	}
	return node.Options().Addr
}

// Listen subscribes on any server, since messages go to all of them: on another one each time, as one may hang. It has
// no longer to confirm that than to say that it is there still.
func (c clusterConn) Listen(ctx context.Context, channel string, listening func(), heard func(string)) error {
	node, err := c.another(ctx)
	if err != nil {
		return serverError(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	enough := time.AfterFunc(quiet, cancel)
	confirmed := func() {
		if enough.Stop() {
			listening()
		}
	}
	return conn{node}.Listen(ctx, channel, confirmed, heard)
}

// another returns a server, and nearly always another one than the last time.
func (c clusterConn) another(ctx context.Context) (node *redis.Client, err error) {
	for range 10 {
		node, err = c.cluster.MasterForKey(ctx, rand.Text())
		if err != nil || node != c.last.Load() {
			break
		}
	}
	c.last.Store(node)
	return node, err
}

func (c clusterConn) Primaries(ctx context.Context) ([]redislock.Conn, error) {
	var mu sync.Mutex
	var primaries []redislock.Conn
	err := c.cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		primaries = append(primaries, named{conn{node}, node.Options().Addr})
		return nil
	})
	return primaries, err
}

// named is a conn to a server that is known.
type named struct {
	conn
	name string
}

func (n named) Name() string { return n.name }
