package experiment

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/lab/classic"
)

func sentinelFailover() Experiment {
	return Experiment{
		Name:     "sentinel-failover",
		Question: "What becomes of a lock whose server dies before its replicas know of it?",
		Needs:    "Redis with sentinels",
		Code:     "classic/set_compare.go",
		Variants: []Variant{
			{Title: "SET NX PX on whatever server is the master", Run: func(s *Trial) { failover(s, classicOnMaster) }},
			{Title: "Holdfast, with tokens", Ours: true, Run: func(s *Trial) { failover(s, oursOnSentinels) }},
		},
		Answer: lateWrites,
	}
}

// A follower makes a lock that follows the master of a group, and tells its token once it is held.
type follower func(s *Trial, g *servers.SentinelGroup) (lock func(context.Context) error, token func() uint64)

func classicOnMaster(s *Trial, g *servers.SentinelGroup) (func(context.Context) error, func() uint64) {
	value := rand.Text()
	lock := func(ctx context.Context) error {
		l := classic.SetCompareDelete{Redis: s.redisAt(g.Master(s, nil).Addr, patient), Key: lockKey, Value: value,
			TTL: time.Minute}
		return poll(ctx, l.TryLock)
	}
	return lock, func() uint64 { return 0 }
}

func oursOnSentinels(s *Trial, g *servers.SentinelGroup) (func(context.Context) error, func() uint64) {
	url := "redis-sentinel://" + strings.Join(addrs(g.Sentinels), ",") + "/" + g.Name
	m := s.Client(url).Mutex("lab")
	var lease *holdfast.Lease
	return func(ctx context.Context) (err error) {
		lease, err = surely(ctx, m.Lock)
		return err
	}, func() uint64 { return lease.Token() }
}

// failover has A lock on a master that is cut off from its replicas and dies, and B lock on its successor. It fails
// if A may still write when B has.
func failover(s *Trial, f follower) {
	g := servers.RedisSentinel(s)
	lockA, tokenA := f(s, g)
	lockB, tokenB := f(s, g)
	account := s.resource()
	master := g.Master(s, nil)
	isolate(s, g, master)
	reached := s.Fault("replicas", "nothing reaches them")
	s.Must(lockA(s.Context()))
	endA := s.Hold("A")
	s.Fault("master", "it dies before its replicas know of A's lock; one of them takes its place")
	replace(s, g, master)
	reached()
	granted := s.Wait("B")
	s.Must(lockB(s.Context()))
	granted()
	s.lateWrite(account, tokenA(), tokenB(), endA,
		"the server has lost A's lock, and A's late write is refused: B's token is greater")
}

// isolate cuts a master off from its replicas, which stand still: from now on nothing reaches them.
func isolate(s *Trial, g *servers.SentinelGroup, master *servers.Server) {
	for _, replica := range g.Servers {
		if replica != master {
			replica.Pause(s)
		}
	}
	master.RedisCommand(s, "CLIENT", "KILL", "TYPE", "replica")
}

// replace kills an isolated master, and waits until another has its place.
func replace(s *Trial, g *servers.SentinelGroup, master *servers.Server) {
	master.Kill(s)
	for _, replica := range g.Servers {
		if replica != master {
			replica.Resume(s)
		}
	}
	g.Master(s, master)
}
