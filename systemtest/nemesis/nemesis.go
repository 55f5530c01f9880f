// Package nemesis breaks servers that keep locks, while clients use them: every backend in the same few ways, and where
// one of them makes no sense, the backend says why.
package nemesis

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/foreign"
)

// A Harm is the most that a fault may cost clients, by what the docs promise. Greater is worse.
type Harm int

const (
	// Nothing: enough servers go on. Nobody loses a lock, and a free one can be had.
	Nothing Harm = iota
	// Outage: requests wait or fail. Holders lose locks that could not be renewed for a TTL, and know it before
	// anybody else is granted them.
	Outage
	// Amnesia: the store forgets or ends claims that it granted. Others may be granted a lock before its holder knows.
	Amnesia
)

func (h Harm) String() string { return [...]string{"nothing", "outage", "amnesia"}[h] }

// A Fault is what may befall a store.
type Fault struct {
	Name string // one of [Names]
	Harm Harm

	// Young says that a grant of less than a TTL before may be forgotten all the same: few servers know of it yet.
	Young bool

	// Anew says that tokens begin anew, as the docs of the backend tell those who restore it.
	Anew bool

	// Forgets says that tokens are forgotten with all else, and come from the server's clock then. From now on that
	// must not go back, say the docs of the backend: no fault that is drawn after this one sets it back.
	Forgets bool

	// Begin lets it happen, and returns what ends it. Both may take as long as servers need. It may happen again after
	// its end, and no two faults of a store happen at once.
	Begin func(t testing.TB) (end func())
}

// Names of faults.
const (
	Kill         = "kill"           // a crash; the server starts again with what is on its disk
	KillLeader   = "kill leader"    // the same of the server that the others follow
	Pause        = "pause"          // connections stay, and nothing is answered
	PauseLeader  = "pause leader"   //
	Empty        = "restart empty"  // a crash that costs the disk
	Cut          = "cut off"        // a follower and the others do not hear each other; clients reach all
	CutLeader    = "cut off leader" //
	Deaf         = "hears nothing"  // a server hears nothing from the others, which hear it
	Mute         = "is not heard"   // the others hear nothing from a server, which hears them
	SlowDisk     = "disk stalls"    // what the leader writes to its disk waits
	FullDisk     = "disk is full"   // so that nothing can be added to files
	FullMemory   = "memory is full" // so that nothing can be added
	Evicts       = "memory evicts"  // so that what was there is thrown away, as a cache would
	ClockForward = "clock forward"  // one server's clock is set forward by an hour, and stays so
	ClockBack    = "clock back"     // the same, back
	Failover     = "failover"       // the server dies, and a replica takes its place
	Pooler       = "pooler"         // the pooler before the server crashes, and starts again
	Sessions     = "sessions end"   // an operator ends all sessions of clients
	SlotsMove    = "slots move"     // a part of the keys moves to another server, key by key

	Renewed = "certificates renewed" // of servers, and of clients that need one; all must connect again
	Expired = "certificate expires"  // that of the server, while all must connect again; it is renewed in the end
)

// Names are all faults that a store may know.
var Names = []string{
	Kill, KillLeader, Pause, PauseLeader, Empty, Cut, CutLeader, Deaf, Mute, SlowDisk, FullDisk, FullMemory, Evicts,
	ClockForward, ClockBack, Failover, Pooler, Sessions, SlotsMove, Renewed, Expired,
}

// A Store is servers that run until the test ends.
type Store struct {
	Name string
	TTL  time.Duration // of locks: long enough for what faults with the harm Nothing take

	// URL is where clients reach the servers at these addresses.
	URL func(addrs []string) string
	// Addrs are the servers. There are none where lines to them cannot be made to fail: without a network, and where
	// servers tell clients the addresses of others.
	Addrs []string

	// Database is that behind these addresses, or beside the files, for who locks in transactions of it. It is nil
	// where there is none, or none but another store's.
	Database func(addrs []string) Database

	// Files are those that clients on this machine lock while they write. As long as one of the clients is stopped
	// then, no other can write. There are none where locks are on a server.
	Files []string

	Mutexes bool // one holder at a time is all that it knows: no readers, no permits
	Voted   bool // a lock is a majority of votes: nobody may get it for a moment, and no order is promised
	Session bool // a lock is its holder's connection: it is free as soon as that ends, and no order is promised
	Unruly  bool // whoever asks first when a lock is free gets it: no order is promised
	Lists   bool // it tells one claim of a lock only with all others
	Swept   bool // clients ask which locks nobody uses any more, and sweep up each of them

	// Peers are programs of others that keep mutexes as the store does, and respect ours and each other.
	Peers []foreign.Program

	Faults []Fault
	Absent map[string]string // why each of the other faults is not here
}

// A Database is what package sql opens.
type Database struct{ Driver, Source string }

// Fault returns the fault of that name.
func (s *Store) Fault(name string) (f Fault, ok bool) {
	for _, f := range s.Faults {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}

// A Kind starts stores.
type Kind struct {
	Name  string
	Start func(t testing.TB) *Store
	Long  bool // it is much like others, or takes much: make test leaves it out
}

// Kinds are all stores.
var Kinds = []Kind{
	{Name: "file", Start: file},
	{Name: "redis", Start: redis},
	{Name: "sentinel", Start: sentinel},
	{Name: "cluster", Start: cluster},
	{Name: "redlock", Start: func(t testing.TB) *Store { return redlock(t, "redlock", 3) }},
	{Name: "redlock of 5", Start: func(t testing.TB) *Store { return redlock(t, "redlock of 5", 5) }, Long: true},
	{Name: "etcd", Start: etcd},
	{Name: "etcd of 3", Start: etcdOf3, Long: true},
	{Name: "zookeeper", Start: zooKeeper},
	{Name: "zookeeper of 3", Start: zooKeeperOf3, Long: true},
	{Name: "mariadb", Start: mariaDB},
	{Name: "mariadb sessions", Start: mariaDBSessions},
	{Name: "postgres", Start: postgres},
	{Name: "postgres sessions", Start: postgresSessions},
	{Name: "pgbouncer", Start: pgBouncer, Long: true},
	{Name: "etcd concurrency", Start: etcdConcurrency, Long: true},
	{Name: "zookeeper curator", Start: zooKeeperCurator, Long: true},
	{Name: "zookeeper kazoo", Start: zooKeeperKazoo, Long: true},
	{Name: "redis redsync", Start: redisRedsync, Long: true},
	{Name: "redis python-redis-lock", Start: redisPython, Long: true},
	{Name: "redis redisson", Start: redisRedisson, Long: true},
}

// Named returns the kind of that name.
func Named(name string) (k Kind, ok bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// absent says of many faults why they are not here, and of some another reason.
func absent(why string, names ...string) map[string]string {
	reasons := make(map[string]string)
	for _, name := range names {
		reasons[name] = why
	}
	return reasons
}
