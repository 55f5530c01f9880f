package nemesis

import (
	"maps"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/systemtest/foreign"
)

// These stores have layouts of others, whose programs lock beside our clients. Each is one server, which breaks as that
// with the layout of our own does, but for what nobody promises beside such programs, and what is the same with both.

// certified is why no certificates are renewed.
const certified = "it is as with the layout of our own, which has it"

// etcdConcurrency is the layout of etcd's own mutex.
func etcdConcurrency(t testing.TB) *Store {
	s := servers.Etcd(t)
	why := ofOne()
	maps.Copy(why, absent(certified, Renewed, Expired))
	return &Store{
		Name: "etcd concurrency", TTL: 3 * time.Second, Addrs: addrs(s), Absent: why,
		URL:   func(addrs []string) string { return etcdURL(addrs) + "?layout=concurrency" },
		Peers: []foreign.Program{foreign.Concurrency, foreign.Etcdctl},
		Faults: []Fault{
			kill(Kill, Outage, always(s)), pause(Pause, Outage, always(s)), anew(empty(Amnesia, s)),
		},
	}
}

func zooKeeperCurator(t testing.TB) *Store {
	return zooKeeperLayout(t, "curator", foreign.Curator(t), foreign.ZKLock)
}

// zooKeeperKazoo is for kazoo alone, which takes no notice of zk.Lock.
func zooKeeperKazoo(t testing.TB) *Store {
	return zooKeeperLayout(t, "kazoo", foreign.Kazoo)
}

// zooKeeperLayout is one server with nodes that are named as these programs name theirs.
func zooKeeperLayout(t testing.TB, layout string, peers ...foreign.Program) *Store {
	s := zooKeeper(t)
	s.Name, s.Peers = "zookeeper "+layout, peers
	s.URL = func(addrs []string) string { return zooKeeperURL(addrs) + "?layout=" + layout }
	return s
}

// redisRedsync is our own layout, in which a lock is the key that those know who follow the published pattern.
func redisRedsync(t testing.TB) *Store {
	s := redisLayout(t, "redis redsync", "prefix=", foreign.Redsync)
	s.Mutexes, s.Unruly = false, false
	return s
}

func redisPython(t testing.TB) *Store {
	return redisLayout(t, "redis python-redis-lock", "layout=python-redis-lock", foreign.PythonRedisLock)
}

func redisRedisson(t testing.TB) *Store {
	return redisLayout(t, "redis redisson", "layout=redisson", foreign.Redisson)
}

// redisLayout is one server that writes everything down, in a layout that knows one holder and no order.
func redisLayout(t testing.TB, name, layout string, peer foreign.Program) *Store {
	clock := newClock(t)
	s := servers.RedisAt(t, clock.Clock, durable...)
	why := absent("it is one server", together...)
	maps.Copy(why, absent("it has no replica", Failover))
	maps.Copy(why, ofRedis())
	maps.Copy(why, absent(unspread, SlotsMove))
	maps.Copy(why, absent(certified, Renewed, Expired))
	maps.Copy(why, absent("what a program of others has would stay taken for as much longer", ClockBack))
	return &Store{
		Name: name, TTL: 2 * time.Second, Addrs: addrs(s), Mutexes: true, Unruly: true, Absent: why,
		URL:   func(addrs []string) string { return "redis://" + addrs[0] + "?keep=1m&" + layout },
		Peers: []foreign.Program{peer},
		Faults: []Fault{
			kill(Kill, Outage, always(s)), pause(Pause, Outage, always(s)), clock.righted(empty(Amnesia, s)),
			fullMemory(s), clock.righted(evicts(s)), clock.forward(Amnesia),
		},
	}
}
