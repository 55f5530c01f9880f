package nemesis

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// durable has a Redis server remember all that it answered. Its log is on the disk before it answers, so a crash of the
// machine would cost as little.
var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

// together are the faults of servers that agree with each other, for the stores that have no such servers.
var together = []string{KillLeader, PauseLeader, Cut, CutLeader, Deaf, Mute}

// redis is one server that writes everything down.
func redis(t testing.TB) *Store {
	clock := newClock(t)
	s := servers.RedisAt(t, clock.Clock, durable...)
	why := absent("it is one server", together...)
	maps.Copy(why, absent("it has no replica", Failover))
	maps.Copy(why, absent("nothing stands before it", Pooler))
	maps.Copy(why, absent("sessions of clients mean nothing to it", Sessions))
	maps.Copy(why, absent("redislock: TestDiskFull", SlowDisk))
	return &Store{
		Name: "redis", TTL: 2 * time.Second, Addrs: addrs(s), Absent: why,
		URL: func(addrs []string) string { return "redis://" + addrs[0] },
		Faults: []Fault{
			kill(Kill, Outage, always(s)), pause(Pause, Outage, always(s)), clock.righted(empty(Amnesia, s)),
			fullMemory(s),
			clock.forward(Amnesia), clock.back(Outage),
		},
	}
}

// fullMemory leaves a Redis server no room for new keys.
func fullMemory(s *servers.Server) Fault {
	return Fault{Name: FullMemory, Harm: Outage, Begin: func(t testing.TB) func() {
		s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
		return func() { s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "0") }
	}}
}

// sentinel is a server with two replicas that confirm each grant, and sentinels.
func sentinel(t testing.TB) *Store {
	g := servers.RedisSentinel(t, durable...)
	var hosts []string
	for _, s := range g.Sentinels {
		hosts = append(hosts, s.Addr)
	}
	url := "redis-sentinel://" + strings.Join(hosts, ",") + "/" + g.Name + "?replicas=2"
	master := func(t testing.TB) *servers.Server { return g.Master(t, nil) }
	const alike = "it is as with one server, which has it"
	why := absent("sentinels are told of on the machine itself", Cut, CutLeader, Deaf, Mute)
	maps.Copy(why, absent(alike, Empty, FullMemory, ClockForward, ClockBack))
	maps.Copy(why, absent("its end is a failover", KillLeader, PauseLeader, Kill))
	maps.Copy(why, absent("nothing stands before it", Pooler))
	maps.Copy(why, absent("sessions of clients mean nothing to it", Sessions))
	maps.Copy(why, absent("redislock: TestDiskFull", SlowDisk))
	return &Store{
		Name: "sentinel", TTL: 4 * time.Second, Absent: why,
		URL:    func([]string) string { return url },
		Faults: []Fault{failover(g), pause(Pause, Outage, master)},
	}
}

// failover crashes the master, and has it follow the one that was made master in its place.
func failover(g *servers.SentinelGroup) Fault {
	return Fault{Name: Failover, Harm: Outage, Begin: func(t testing.TB) func() {
		old := g.Master(t, nil)
		old.Kill(t)
		next := g.Master(t, old)
		return func() {
			old.Restart(t)
			old.Follow(t, next)
			g.AwaitReplaceable(t)
		}
	}}
}

// redlock is three servers that vote. Faults befall one and the same: whoever has just come back does not vote for a
// while.
func redlock(t testing.TB) *Store {
	const ttl = 2 * time.Second
	clock := newClock(t)
	one := servers.RedisAt(t, clock.Clock, durable...)
	all := addrs(one, servers.Redis(t, durable...), servers.Redis(t, durable...))
	why := absent("none of the servers leads, or talks to the others", append([]string{Failover}, together...)...)
	maps.Copy(why, absent("nothing stands before it", Pooler))
	maps.Copy(why, absent("sessions of clients mean nothing to it", Sessions))
	maps.Copy(why, absent("redislock: TestDiskFull", SlowDisk))
	memory := fullMemory(one)
	memory.Harm = Nothing
	return &Store{
		Name: "redlock", TTL: ttl, Addrs: all, Mutexes: true, Voted: true, Absent: why,
		URL: func(addrs []string) string {
			return "redlock://" + strings.Join(addrs, ",") + "?maxttl=" + ttl.String()
		},
		Faults: []Fault{
			kill(Kill, Nothing, always(one)), pause(Pause, Nothing, always(one)), empty(Nothing, one), memory,
			young(clock.forward(Nothing)), clock.back(Nothing),
		},
	}
}
