package testbed

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// TTL is for how long locks may be asked for on all backends. It bounds what a crashed process costs.
const TTL = 5 * time.Second

// A Backend is an engine that keeps locks.
type Backend struct {
	Name   string
	Alone  bool                          // it reaches one process only
	Server bool                          // it is a server, which must be installed
	Start  func(testing.TB) (url string) // until the test ends

	protocol wire.Protocol // how requests are counted; nil where they are not
}

// Backends are all that Holdfast has, in the order of what they need.
var Backends = []Backend{
	{Name: "memory", Alone: true, Start: memory},
	{Name: "SQLite", Start: file},
	{Name: "Redis", Server: true, Start: redis, protocol: wire.Redis(nil)},
	{Name: "Redlock of 3", Server: true, Start: redlock, protocol: wire.Redis(nil)},
	{Name: "etcd", Server: true, Start: etcd, protocol: wire.Etcd()},
	{Name: "ZooKeeper", Server: true, Start: zooKeeper, protocol: wire.ZooKeeper(nil)},
	{Name: "MariaDB", Server: true, Start: mariaDB, protocol: mysqlCommands},
	{Name: "PostgreSQL", Server: true, Start: postgres, protocol: postgresQueries},
}

// Named returns the backend of that name, whatever its case.
func Named(name string) (Backend, error) {
	return Find("backend", name, Backends, func(b Backend) string { return b.Name })
}

// Find returns the one of a name, whatever its case, or an error that names all there are.
func Find[T any](what, name string, all []T, nameOf func(T) string) (found T, err error) {
	var names []string
	for _, one := range all {
		if strings.EqualFold(nameOf(one), name) {
			return one, nil
		}
		names = append(names, nameOf(one))
	}
	return found, fmt.Errorf("nobody knows the %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// At is a backend that runs already, at a URL.
func At(rawURL string) (Backend, error) {
	u, err := driver.ParseURL(rawURL) // which knows of several hosts
	if err != nil || u.Scheme == "" {
		return Backend{}, fmt.Errorf("the backend is no URL, like redis://localhost:6379 or file:/tmp/locks.db")
	}
	return Backend{Name: u.Scheme, Alone: u.Scheme == "mem", Start: func(testing.TB) string { return rawURL }}, nil
}

func memory(t testing.TB) string { return "mem:" + filepath.Base(t.TempDir()) }
func file(t testing.TB) string   { return "file:" + filepath.Join(t.TempDir(), "locks.db") }
func redis(t testing.TB) string  { return "redis://" + servers.Redis(t).Addr }
func etcd(t testing.TB) string   { return "etcd://" + servers.Etcd(t).Addr }

func zooKeeper(t testing.TB) string { return "zk://" + servers.ZooKeeper(t).Addr }

// redlock is three servers that have just started. Their votes do not count before claims of earlier lives would have
// ended, so those must not be long.
func redlock(t testing.TB) string {
	var nodes []string
	for range 3 {
		nodes = append(nodes, servers.Redis(t).Addr)
	}
	return "redlock://" + strings.Join(nodes, ",") + "?maxttl=" + TTL.String()
}

func mariaDB(t testing.TB) string {
	return migrated(t, "mysql://root@"+servers.MariaDB(t).Addr+"/test")
}
func postgres(t testing.TB) string {
	return migrated(t, "postgres://postgres@"+servers.Postgres(t).Addr+"/postgres?sslmode=disable")
}

// migrated makes the tables for the locks.
func migrated(t testing.TB, rawURL string) string {
	if err := sqllock.MigrateURL(t.Context(), rawURL); err != nil {
		t.Fatal(err)
	}
	return rawURL
}
