// Package engine starts the servers that locks are measured on, each kind in its own file, and says what they cost.
package engine

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// An Engine is a server, or several, that run for the measurement alone.
type Engine struct {
	Addr    string // with commas between several
	Version string // the product and its version
	pid     int
	family  bool  // the server works in children of that process
	others  []int // more of them, where the engine is several servers
}

// CPU returns the processor time that the server has used so far. Where the system does not tell, ok is false.
func (e *Engine) CPU() (used time.Duration, ok bool) {
	used, ok = processorTime(e.pid, e.family)
	for _, pid := range e.others {
		more, known := processorTime(pid, e.family)
		used, ok = used+more, ok && known
	}
	return used, ok
}

// Redis starts a redis-server that keeps nothing on disk.
func Redis(t testing.TB) *Engine {
	t.Helper()
	s := servers.Redis(t)
	version := fieldOf(s.RedisCommand(t, "INFO", "server"), "redis_version:", "\r\n")
	return &Engine{Addr: s.Addr, Version: "Redis " + version, pid: s.Pid}
}

// Etcd starts one etcd server that does not wait for its disk.
func Etcd(t testing.TB) *Engine {
	t.Helper()
	s := servers.Etcd(t)
	version := fieldOf(get(t, "http://"+s.Addr+"/version"), `"etcdserver":"`, `"`)
	return &Engine{Addr: s.Addr, Version: "etcd " + version + ", one member", pid: s.Pid}
}

// ZooKeeper starts one ZooKeeper server that does not wait for its disk.
func ZooKeeper(t testing.TB) *Engine {
	t.Helper()
	s := servers.ZooKeeper(t)
	version := fieldOf(s.ZooKeeperWord(t, "srvr"), "Zookeeper version: ", "-")
	return &Engine{Addr: s.Addr, Version: "ZooKeeper " + version + ", one server", pid: s.Pid}
}

func get(t testing.TB, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// fieldOf returns what stands between a name and an end in a text.
func fieldOf(text, name, end string) string {
	_, rest, _ := strings.Cut(text, name)
	value, _, _ := strings.Cut(rest, end)
	return value
}

// redlockServers is how many servers vote: two of them may fail.
const redlockServers = 5

// Redlock starts redis-servers that know nothing of each other.
func Redlock(t testing.TB) *Engine {
	t.Helper()
	first := Redis(t)
	addrs := []string{first.Addr}
	all := &Engine{Version: fmt.Sprintf("%s, %d servers", first.Version, redlockServers), pid: first.pid}
	for range redlockServers - 1 {
		e := Redis(t)
		addrs, all.others = append(addrs, e.Addr), append(all.others, e.pid)
	}
	all.Addr = strings.Join(addrs, ",")
	return all
}
