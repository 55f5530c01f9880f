package knownfaults

import "github.com/holdfast-go/holdfast/driver"

const (
	etcdIssue   = "https://github.com/etcd-io/etcd/issues/"
	etcdPull    = "https://github.com/etcd-io/etcd/pull/"
	redisPull   = "https://github.com/redis/redis/pull/"
	redisIssue  = "https://github.com/redis/redis/issues/"
	valkeyPull  = "https://github.com/valkey-io/valkey/pull/"
	valkeyIssue = "https://github.com/valkey-io/valkey/issues/"
	zooKeeperAt = "https://issues.apache.org/jira/browse/ZOOKEEPER-"
	mariaDBAt   = "https://jira.mariadb.org/browse/MDEV-"
)

// forgets is what follows where a server of Redis's kind crashes.
const forgets = "; its locks are forgotten unless appendonly is yes"

var table = []Fault{
	{Etcd, []Range{{"", "3.4.31"}, {"3.5.0", "3.5.13"}}, "", etcdIssue + "15247",
		"a leader that hung and was replaced may revoke leases that were kept alive: locks are lost, and " +
			"granted to others before their holders know",
		driver.Unsafe, ""},
	{Etcd, []Range{{"3.5.0", "3.5.3"}}, "", etcdIssue + "13766",
		"after a crash a member may have other data than the others, and nobody is told: a lock may be " +
			"held twice",
		driver.Unsafe, ""},
	{Etcd, []Range{{"", "3.4.32"}, {"3.5.0", "3.5.14"}}, "", etcdIssue + "17780",
		"after a crash during a compaction revisions may go back: fencing tokens may repeat",
		driver.Warning, ""},
	{Etcd, []Range{{"", "3.4.38"}, {"3.5.0", "3.5.23"}, {"3.6.0", "3.6.5"}}, "", etcdPull + "20590",
		"a keep-alive in the very moment in which its lease ends may be answered as if it had come in " +
			"time: the holder learns a third of the TTL later that it lost",
		driver.Warning, ""},
	{Etcd, []Range{{"", "3.4.42"}, {"3.5.0", "3.5.28"}, {"3.6.0", "3.6.9"}}, "", etcdIssue + "20418",
		"after a pause of a process, or a change of the leader, reads may answer from the past: lists are " +
			"old, and waiters learn of their turn later; nobody is granted a lock too early",
		driver.Warning, ""},
	{Etcd, []Range{{"", "3.4.21"}, {"3.5.0", "3.5.5"}}, "", etcdIssue + "14370",
		"in a cluster of one member, a crash may take back what was confirmed: locks are forgotten",
		driver.Warning, ""},
	{Etcd, []Range{{"3.5.0", "3.5.17"}}, "", etcdIssue + "18679",
		"a member that fails while it applies a transaction may keep a part of it", driver.Warning, ""},
	{Etcd, []Range{{"3.6.7", ""}}, "", etcdIssue + "22214",
		"while nobody reads the log that a member writes, its reads hang, and it calls itself healthy; " +
			"clients with the addresses of all members go to another one",
		driver.Fine, ""},

	{Redis, []Range{{"7.0.0", "7.0.3"}}, "", redisPull + "10855",
		"with min-replicas-to-write, a script that has written may be ended half way: claims are taken " +
			"back or expire",
		driver.Warning, ""},
	{Redis, []Range{{"7.2.0", "7.2.5"}}, "", redisPull + "13115",
		"a script that passes a round number to a command fails: requests fail now and then",
		driver.Warning, ""},
	{Redis, []Range{{"7.2.0", "7.2.5"}}, BlockingPops, redisPull + "13004",
		"a pop that is woken in vain begins its time anew: waiters ask late", driver.Warning, ""},
	{Redis, []Range{{"7.0.0", "7.2.3"}}, InCluster, redisPull + "12702",
		"a node may crash after another was removed from the cluster" + forgets, driver.Warning, ""},
	{Redis, []Range{{"7.2.0", "7.2.7"}}, InCluster, redisPull + "13311",
		"a node may crash while slots with blocked clients move" + forgets, driver.Warning, ""},
	{Redis, []Range{{"7.2.0", "7.2.7"}, {"7.4.0", "7.4.2"}}, InCluster, redisPull + "13443",
		"a node may crash when it starts: its locks cannot be reached", driver.Warning, ""},
	{Redis, []Range{{"7.4.0", "7.4.6"}, {"8.0.0", "8.0.4"}, {"8.2.0", "8.2.2"}}, "", redisPull + "14319",
		"with activedefrag, a server may crash in scripts" + forgets, driver.Warning, ""},
	{Redis, []Range{{"7.0.0", "7.2.11"}, {"7.4.0", "7.4.6"}, {"8.0.0", "8.0.4"}, {"8.2.0", "8.2.2"}}, "",
		"CVE-2025-49844",
		"unless your distribution has mended it, users who may run scripts can take the server over, and " +
			"forge locks",
		driver.Fine, ""},
	{Redis, []Range{{"7.0.0", "7.2.8"}, {"7.4.0", "7.4.3"}}, "", redisPull + "13993",
		"unless your distribution has mended it, clients without a password can fill the memory until the " +
			"server is killed (CVE-2025-21605)",
		driver.Fine, ""},
	{Redis, []Range{{"", ""}}, InCluster, redisIssue + "4937",
		"only the primary knows that a slot moves: one that fails over meanwhile may have the locks " +
			"granted again that were moved already",
		driver.Fine, ""},
	{Redis, []Range{{"", ""}}, WithSentinels, redisIssue + "13658",
		"after all servers and sentinels were started at the same time, sentinels may name another master " +
			"than the servers have: there are no locks until they agree",
		driver.Fine, ""},

	{Valkey, []Range{{"7.2.0", "7.2.9"}, {"8.0.0", "8.0.3"}, {"8.1.0", "8.1.1"}}, "", valkeyPull + "1994",
		"unless your distribution has mended it, clients without a password can fill the memory until the " +
			"server is killed (CVE-2025-21605)",
		driver.Fine, ""},
	{Valkey, []Range{{"7.2.0", "7.2.11"}, {"8.0.0", "8.0.6"}, {"8.1.0", "8.1.4"}}, "", "CVE-2025-49844",
		"unless your distribution has mended it, users who may run scripts can take the server over, and " +
			"forge locks",
		driver.Fine, ""},
	{Valkey, []Range{{"8.1.0", "8.1.5"}}, "", valkeyIssue + "2669",
		"the server may crash while it expires keys, which every lock has" + forgets, driver.Warning, ""},
	{Valkey, []Range{{"8.0.0", "8.0.7"}, {"8.1.0", "8.1.6"}, {"9.0.0", "9.0.3"}}, "", valkeyPull + "3205",
		"with io-threads, an answer may stay in the server: requests are repeated, and a lease may end",
		driver.Warning, ""},
	{Valkey, []Range{{"9.0.0", ""}}, InCluster, valkeyIssue + "2724",
		"a failover at the end of CLUSTER MIGRATESLOTS may give a slot back without its keys: its locks " +
			"are forgotten",
		driver.Fine, ""},
	{Valkey, []Range{{"", ""}}, WithSentinels, valkeyIssue + "1322",
		"after all servers and sentinels were started at the same time, sentinels may name another master " +
			"than the servers have: there are no locks until they agree",
		driver.Fine, ""},

	{ZooKeeper, []Range{{"3.9.3", "3.9.4"}}, "", zooKeeperAt + "4925",
		"a follower that fell behind may lead with a hole in its history: claims are lost, and a lock may " +
			"be held twice",
		driver.Unsafe, ""},
	{ZooKeeper, []Range{{"3.7.0", "3.8.4"}, {"3.9.0", "3.9.2"}}, "", zooKeeperAt + "4785",
		"a follower that restarts while it synchronizes loses changes: a claim, or its end, may be forgotten",
		driver.Warning, ""},
	{ZooKeeper, []Range{{"3.7.0", "3.9.3"}}, "", zooKeeperAt + "4646",
		"changes are lost if followers crash between their answer to a new leader and their disk: a claim " +
			"may be forgotten",
		driver.Warning, "3.9.4"},
	{ZooKeeper, []Range{{"", "3.9.3"}}, "", zooKeeperAt + "4712",
		"a server that leaves its role may go on writing to its log: its data may differ from the others' " +
			"(3.9.3 has ZOOKEEPER-4925: take 3.9.4)",
		driver.Warning, ""},
	{ZooKeeper, []Range{{"3.5.0", "3.5.10"}, {"3.6.0", "3.6.3"}}, "", zooKeeperAt + "3911",
		"changes are lost when all servers stop just after an election: a claim may be forgotten",
		driver.Warning, ""},
	{ZooKeeper, []Range{{"3.5.0", "3.5.10"}}, "", zooKeeperAt + "3642",
		"after a crash of the leader, a server that synchronized with it may lose everything at its next start",
		driver.Unsafe, ""},
	{ZooKeeper, []Range{{"", "3.6.0"}}, "", zooKeeperAt + "3145",
		"after a restart servers may differ about the nodes of sessions that ended: the lock of a dead " +
			"client stays taken on one of them",
		driver.Warning, ""},
	{ZooKeeper, []Range{{"", "3.5.4"}}, "", zooKeeperAt + "2355",
		"the nodes of a dead client may stay on a follower for ever: its lock stays taken there",
		driver.Warning, ""},
	{ZooKeeper, []Range{{"3.6.0", ""}}, "", zooKeeperAt + "4306",
		"the end of a session with very many nodes stops all servers; ours are kept small by sessionbytes, " +
			"those of Curator and kazoo are not",
		driver.Fine, ""},
	{ZooKeeper, []Range{{"3.8.4", ""}}, "", zooKeeperAt + "4837",
		"after a fault of the network a follower may keep a node of a session that ended: for its clients " +
			"the lock stays taken",
		driver.Fine, ""},
	{ZooKeeper, []Range{{"", ""}}, "", zooKeeperAt + "4882",
		"a server that goes on after an error of its disk, and is restarted, has lost changes",
		driver.Fine, ""},

	{PostgreSQL, []Range{{"14.0", "14.4"}}, "", "https://www.postgresql.org/docs/release/14.4/",
		"CREATE INDEX or REINDEX CONCURRENTLY misses rows that change meanwhile, as those of locks that " +
			"are renewed do: a lock may be held twice until its index is built again",
		driver.Unsafe, ""},
	{MariaDB, []Range{{"10.6.13", "10.6.14"}, {"10.11.3", "10.11.4"}}, WithGalera, mariaDBAt + "30473",
		"GET_LOCK fails in a cluster: requests that would wait fail, and so does mode=session",
		driver.Unsafe, ""},
	{MariaDB, []Range{{"10.5.0", "10.5.16"}, {"10.6.0", "10.6.8"}, {"10.7.0", "10.7.4"}}, "",
		mariaDBAt + "20605",
		"a transaction that waited for a row may miss rows that another one has inserted: a claim may be " +
			"overlooked",
		driver.Unsafe, ""},
	{MySQL, []Range{{"8.0.29", "8.0.32"}}, "",
		"https://docs.percona.com/percona-xtrabackup/8.0/em/instant.html",
		"a table to which columns were added at once, as holdfast migrate does, may be damaged by a " +
			"recovery after a crash",
		driver.Warning, ""},
	{SQLite, []Range{{"3.7.0", "3.44.6"}, {"3.45.0", "3.50.7"}, {"3.51.0", "3.51.3"}}, "",
		"https://sqlite.org/wal.html#walresetbug",
		"two programs that write at the same moment may damage the file, and claims in it", driver.Warning, ""},
}
