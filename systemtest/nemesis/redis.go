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

// unspread is why no slots move.
const unspread = "all its keys are in one place"

// ofRedis are the reasons that all stores on Redis have.
func ofRedis() map[string]string {
	why := absent("nothing stands before it", Pooler)
	maps.Copy(why, absent("sessions of clients mean nothing to it", Sessions))
	maps.Copy(why, absent("redislock: TestDiskFull", SlowDisk, FullDisk))
	return why
}

// redis is one server that writes everything down.
func redis(t testing.TB) *Store {
	clock := newClock(t)
	s := newPrivate(t, servers.SecureRedis(t, clock.Clock, durable...))
	why := absent("it is one server", together...)
	maps.Copy(why, absent("it has no replica", Failover))
	maps.Copy(why, ofRedis())
	maps.Copy(why, absent(unspread, SlotsMove))
	return &Store{
		Name: "redis", TTL: 2 * time.Second, Addrs: []string{s.line.Addr}, Absent: why,
		URL: func(addrs []string) string { return "rediss://" + addrs[0] + "?keep=1m&ca=" + s.Authority.File },
		Faults: append(s.certificates(),
			kill(Kill, Outage, always(s.Server)), pause(Pause, Outage, always(s.Server)),
			clock.righted(empty(Amnesia, s.Server)), fullMemory(s.Server), clock.righted(evicts(s.Server)),
			clock.forward(Amnesia), clock.back(Outage),
		),
	}
}

// fullMemory leaves a Redis server no room for new keys.
func fullMemory(s *servers.Server) Fault {
	return Fault{Name: FullMemory, Harm: Outage, Begin: func(t testing.TB) func() {
		s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
		return func() { s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "0") }
	}}
}

// evicts has a Redis server throw away keys, as it does with a policy for caches when its memory is full.
func evicts(s *servers.Server) Fault {
	return Fault{Name: Evicts, Harm: Amnesia, Begin: func(t testing.TB) func() {
		s.RedisCommand(t, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
		return func() {
			s.RedisCommand(t, "CONFIG", "SET", "maxmemory", "0")
			s.RedisCommand(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
		}
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
	maps.Copy(why, absent(alike, Empty, FullMemory, Evicts, ClockForward, ClockBack, Renewed, Expired))
	maps.Copy(why, absent("its end is a failover", KillLeader, PauseLeader, Kill))
	maps.Copy(why, ofRedis())
	maps.Copy(why, absent(unspread, SlotsMove))
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

// redlock is servers that vote. Faults befall the same minority of them, together: whoever has just come back does not
// vote for a while.
func redlock(t testing.TB, name string, n int) *Store {
	const ttl = 2 * time.Second
	clock := newClock(t)
	var failing, all []*servers.Server
	for range (n - 1) / 2 {
		failing = append(failing, servers.RedisAt(t, clock.Clock, durable...))
	}
	all = append(all, failing...)
	for len(all) < n {
		all = append(all, servers.Redis(t, durable...))
	}
	why := absent("none of the servers leads, or talks to the others", append([]string{Failover}, together...)...)
	maps.Copy(why, ofRedis())
	maps.Copy(why, absent(unspread, SlotsMove))
	maps.Copy(why, absent("each server is as one that is alone, which has it", Renewed, Expired))
	maps.Copy(why, absent("docs/redlock.md: it is not noticed, and may cost any lock", Evicts))
	each := func(fault func(*servers.Server) Fault) Fault {
		var faults []Fault
		for _, s := range failing {
			faults = append(faults, fault(s))
		}
		return atOnce(Nothing, faults)
	}
	return &Store{
		Name: name, TTL: ttl, Addrs: addrs(all...), Mutexes: true, Voted: true, Absent: why,
		URL: func(addrs []string) string {
			return "redlock://" + strings.Join(addrs, ",") + "?maxttl=" + ttl.String()
		},
		Faults: []Fault{
			each(func(s *servers.Server) Fault { return kill(Kill, Nothing, always(s)) }),
			each(func(s *servers.Server) Fault { return pause(Pause, Nothing, always(s)) }),
			each(func(s *servers.Server) Fault { return empty(Nothing, s) }),
			each(fullMemory), young(clock.forward(Nothing)), clock.back(Nothing),
		},
	}
}
