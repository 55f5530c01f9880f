package engines

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/zklock"
)

// A store is servers that run until the test ends, and the URLs of all backends that they can be, by their names.
type store struct {
	servers []*servers.Server
	urls    map[string]string
	ready   func(testing.TB) // waits until they serve after a pause; nil: they do at once
}

// stores start what has a network.
var stores = map[string]func(t testing.TB) store{
	"redis":    redis,
	"sentinel": sentinel,
	"cluster":  cluster,
	"redlock":  redlock,
	"etcd":     etcd,
	"password": etcdWithPassword,
	"zk":       zooKeeper,
	"mysql":    mysql,
	"postgres": postgres,
}

// onEach runs a test on each backend, one after the other where they share a server.
func onEach(t *testing.T, test func(t *testing.T, s store, url string)) {
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			for backend, url := range s.urls {
				t.Run(backend, func(t *testing.T) { test(t, s, url) })
			}
		})
	}
}

func (s store) pause(t *testing.T) {
	t.Helper()
	for _, s := range s.servers {
		s.Pause(t)
	}
}

func (s store) resume(t *testing.T) {
	t.Helper()
	for _, s := range s.servers {
		s.Resume(t)
	}
	if s.ready != nil {
		s.ready(t)
	}
}

func redis(t testing.TB) store {
	s := servers.Redis(t)
	return store{servers: []*servers.Server{s}, urls: map[string]string{
		"own":               "redis://" + s.Addr,
		"python-redis-lock": "redis://" + s.Addr + "?layout=python-redis-lock",
		"redisson":          "redis://" + s.Addr + "?layout=redisson",
	}}
}

func sentinel(t testing.TB) store {
	g := servers.RedisSentinel(t)
	g.Steady(t)
	url := "redis-sentinel://" + addrs(g.Sentinels) + "/" + g.Name
	return store{servers: append(g.Sentinels, g.Servers...), urls: map[string]string{"own": url}}
}

func cluster(t testing.TB) store {
	c := servers.RedisCluster(t)
	return store{
		servers: c.All(), ready: c.AwaitServing,
		urls: map[string]string{"own": "redis-cluster://" + addrs(c.All())},
	}
}

func redlock(t testing.TB) store {
	var nodes []*servers.Server
	for range 3 {
		nodes = append(nodes, servers.Redis(t))
	}
	return store{servers: nodes, urls: map[string]string{"own": "redlock://" + addrs(nodes) + "?unsafefresh=true"}}
}

func etcd(t testing.TB) store {
	s := servers.Etcd(t)
	return store{servers: []*servers.Server{s}, urls: map[string]string{
		"own": "etcd://" + s.Addr, "concurrency": "etcd://" + s.Addr + "?layout=concurrency",
	}}
}

func etcdWithPassword(t testing.TB) store {
	group := []*servers.Server{servers.Etcd(t)}
	for _, line := range []string{"user add root:pw", "user grant-role root root", "auth enable"} {
		run(t, servers.Etcdctl(t, group, strings.Fields(line)...))
	}
	return store{servers: group, urls: map[string]string{"own": "etcd://root:pw@" + group[0].Addr}}
}

func zooKeeper(t testing.TB) store {
	s := servers.ZooKeeper(t)
	return store{servers: []*servers.Server{s}, urls: map[string]string{
		"own": "zk://" + s.Addr, "curator": "zk://" + s.Addr + "?layout=curator",
	}}
}

func mysql(t testing.TB) store { return database(t, servers.Databases[0], "TIMESTAMP(3)", "?") }
func postgres(t testing.TB) store {
	return database(t, servers.Databases[1], "TIMESTAMP", "?sslmode=disable&")
}

// database is one with the tables of all layouts. ShedLock's has a time of its own type.
func database(t testing.TB, d servers.Database, timestamp, begin string) store {
	s := d.Start(t)
	url := d.URL(s.Addr) + begin
	if err := sqllock.MigrateURL(t.Context(), url[:len(url)-1]); err != nil {
		t.Fatal(err)
	}
	_, err := d.Pool(t, s.Addr).ExecContext(t.Context(), "CREATE TABLE shedlock ("+
		"name VARCHAR(64) NOT NULL PRIMARY KEY, "+
		"lock_until "+timestamp+" NOT NULL, locked_at "+timestamp+" NOT NULL, locked_by VARCHAR(255) NOT NULL)")
	if err != nil {
		t.Fatal(err)
	}
	return store{servers: []*servers.Server{s}, urls: map[string]string{
		"own": url[:len(url)-1], "session": url + "mode=session", "shedlock": url + "layout=shedlock",
	}}
}

// addrs joins the addresses of servers.
func addrs(all []*servers.Server) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Addr)
	}
	return strings.Join(list, ",")
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}
