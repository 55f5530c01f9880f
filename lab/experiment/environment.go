package experiment

import (
	"context"
	"database/sql"
	"net/url"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"

	// What Holdfast can keep its locks in, besides what is used here.
	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/memlock"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/zklock"

	_ "github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"
)

// An environment has the servers that the variants of an experiment share.
type environment struct {
	testing.TB
	Config
	servers map[string]string // addresses of those that run, by the scheme of their URLs
}

// crowd is how many take part: fewer in short runs.
func (e *environment) crowd(long, short int) int {
	if e.Short {
		return short
	}
	return long
}

// at returns the address of the server for URLs of a scheme: the one that was given, or one that is started.
func (e *environment) at(scheme string, start func(testing.TB) *servers.Server) string {
	if u, err := url.Parse(e.Backend); err == nil && u.Scheme == scheme {
		return u.Host
	}
	if e.servers[scheme] == "" {
		e.servers[scheme] = start(e.TB).Addr
	}
	return e.servers[scheme]
}

func (e *environment) redisAddr() string {
	return e.at("redis", func(t testing.TB) *servers.Server { return servers.Redis(t) })
}

func (e *environment) etcdAddr() string {
	return e.at("etcd", func(t testing.TB) *servers.Server { return servers.Etcd(t) })
}

func (e *environment) zooKeeperAddr() string {
	return e.at("zk", func(t testing.TB) *servers.Server { return servers.ZooKeeper(t) })
}

// redis returns a new connection to the Redis server, which never repeats a request by itself.
func (e *environment) redis() *redis.Client { return e.redisAt(e.redisAddr(), patient) }

func (e *environment) redisAt(addr string, patience time.Duration) *redis.Client {
	c := dial(addr, patience)
	e.Cleanup(func() { _ = c.Close() })
	return c
}

// A database is a MariaDB server.
type database struct {
	*sql.DB
	source string // for other pools of connections
	url    string // for Holdfast's locks
}

func (e *environment) mariaDB() database {
	e.Helper()
	addr := e.at("mysql", func(t testing.TB) *servers.Server { return servers.MariaDB(t) })
	d := database{url: "mysql://root@" + addr + "/test", source: "root@tcp(" + addr + ")/test"}
	if err := sqllock.MigrateURL(e.Context(), d.url); err != nil {
		e.Fatal(err)
	}
	var err error
	if d.DB, err = sql.Open("mysql", d.source); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = d.Close() })
	return d
}

// within asks again and again until the answer is yes, and reports whether that was in time.
func within(ctx context.Context, limit time.Duration, ask func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
