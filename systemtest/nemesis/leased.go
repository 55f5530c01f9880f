package nemesis

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func etcdURL(addrs []string) string { return "etcd://" + strings.Join(addrs, ",") }

func zooKeeperURL(addrs []string) string { return "zk://" + strings.Join(addrs, ",") }

// ofOne are the reasons of one server that others might agree with.
func ofOne() map[string]string {
	why := absent("it is one server", append([]string{Failover}, together...)...)
	maps.Copy(why, ofEither())
	maps.Copy(why, absent("it is as with three servers, which have it", SlowDisk, FullDisk))
	return why
}

// ofEither are the reasons of one server and of three.
func ofEither() map[string]string {
	why := absent("nothing stands before it", Pooler)
	maps.Copy(why, absent("etcdlock: TestEndsInAFullStore, zklock: TestQuota", FullMemory))
	maps.Copy(why, absent("it throws nothing away", Evicts))
	maps.Copy(why, absent("it goes by a clock that nobody sets", ClockForward, ClockBack))
	maps.Copy(why, absent("etcdlock: TestRevokedLease, zklock: TestClosedSession", Sessions))
	maps.Copy(why, absent(unspread, SlotsMove))
	return why
}

// etcd is one server.
func etcd(t testing.TB) *Store {
	s := newPrivate(t, servers.SecureEtcd(t))
	return &Store{
		Name: "etcd", TTL: 3 * time.Second, Addrs: []string{s.line.Addr}, Absent: ofOne(),
		URL: func(addrs []string) string {
			return etcdURL(addrs) + "?ca=" + s.Authority.File + "&cert=" + s.own.Both + "&key=" + s.own.Both
		},
		Faults: append(s.certificates(),
			kill(Kill, Outage, always(s.Server)), pause(Pause, Outage, always(s.Server)),
			anew(empty(Amnesia, s.Server)),
		),
	}
}

// etcdOf3 is three servers with the timing that they have by default.
func etcdOf3(t testing.TB) *Store {
	all, net := servers.EtcdApart(t, 3)
	return &Store{
		Name: "etcd of 3", TTL: 15 * time.Second, Addrs: addrs(all...), URL: etcdURL, Absent: ofThree(),
		Faults: ensemble{all, net, servers.EtcdLeader}.faults(),
	}
}

// ofThree are the reasons of three servers.
func ofThree() map[string]string {
	why := absent("one that lost its disk is another member, which an operator adds", Empty)
	maps.Copy(why, absent("who leads is what clients need not know: see "+KillLeader, Failover))
	maps.Copy(why, absent("it is as with one server", Renewed, Expired))
	maps.Copy(why, ofEither())
	return why
}

// zooKeeper is one server.
func zooKeeper(t testing.TB) *Store {
	s := servers.ZooKeeper(t)
	why := ofOne()
	maps.Copy(why, absent("it reads its own when it starts; zklock: TestCertificatesAreReadAnew", Renewed, Expired))
	return &Store{
		Name: "zookeeper", TTL: 4 * time.Second, Addrs: addrs(s), URL: zooKeeperURL, Absent: why, Lists: true,
		Faults: []Fault{
			kill(Kill, Outage, always(s)), pause(Pause, Outage, always(s)), anew(empty(Amnesia, s)),
		},
	}
}

// zooKeeperOf3 is three servers with the timing of ZooKeeper's guide.
func zooKeeperOf3(t testing.TB) *Store {
	all, net := servers.ZooKeeperApart(t, 3)
	return &Store{
		Name: "zookeeper of 3", TTL: 15 * time.Second, Addrs: addrs(all...), URL: zooKeeperURL, Absent: ofThree(),
		Lists:  true,
		Faults: ensemble{all, net, servers.ZooKeeperLeader}.faults(),
	}
}
