package contender

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/wire"
	_ "github.com/holdfast-go/holdfast/etcdlock"  // the scheme etcd
	_ "github.com/holdfast-go/holdfast/redislock" // the scheme redis
	_ "github.com/holdfast-go/holdfast/zklock"    // the scheme zk
)

// Holdfast is what this module is about, as it is by default, on Redis.
func Holdfast() Contender { return ours("redis://", TTL, "defaults", wire.Redis(holdfastRenews)) }

// HoldfastEtcd is Holdfast on etcd.
func HoldfastEtcd() Contender { return ours("etcd://", SessionTTL, "a TTL of 60 s", wire.Etcd()) }

// HoldfastZooKeeper is Holdfast on ZooKeeper.
func HoldfastZooKeeper() Contender {
	return ours("zk://", SessionTTL, "a TTL of 60 s", wire.ZooKeeper(holdfastBeats))
}

func ours(scheme string, ttl time.Duration, note string, p wire.Protocol) Contender {
	return Contender{
		Name:   "holdfast",
		Module: "github.com/holdfast-go/holdfast",
		Note:   note,
		Waits:  true,
		Open: func(ctx context.Context, addr string) (Client, error) {
			client, err := holdfast.Open(ctx, scheme+addr, holdfast.WithTTL(ttl))
			if err != nil {
				return nil, err
			}
			return holdfastClient{client}, nil
		},
		Protocol: p,
	}
}

type holdfastClient struct{ *holdfast.Client }

func (c holdfastClient) Lock(ctx context.Context, name string) (Held, error) {
	lease, err := c.Mutex(name).Lock(ctx)
	if err != nil {
		return nil, err
	}
	return holdfastHeld{lease}, nil
}

func (c holdfastClient) Close() error { return c.Client.Close(context.Background()) }

type holdfastHeld struct{ *holdfast.Lease }

func (h holdfastHeld) Unlock(ctx context.Context) error { return h.Release(ctx) }

// holdfastRenews recognises the script that requests a claim, which alone has so many arguments, when it names the
// token that the claim has already.
func holdfastRenews(c wire.Command) bool {
	const (
		token     = 3 + 4 + 1 // EVALSHA, the hash and the number of keys; the keys; the ID
		arguments = 3 + 4 + 4
	)
	return c.Name() == "EVALSHA" && len(c) == arguments && len(c[token]) > 1
}

// holdfastBeats recognises the heartbeats of sessions, which have nodes for them.
func holdfastBeats(c wire.Call) bool { return c.IsWrite() && strings.Contains(c.Path, "/.sessions/") }
