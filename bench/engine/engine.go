// Package engine starts the servers that locks are measured on, each kind in its own file, and says what they cost.
package engine

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
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

	// Size returns how many bytes the server has stored: in memory on Redis, on disk on etcd and in databases; on
	// ZooKeeper what paths and data take.
	Size func() int64
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
	return &Engine{Addr: s.Addr, Version: "Redis " + version, pid: s.Pid, Size: func() int64 {
		return bytes(t, fieldOf(s.RedisCommand(t, "INFO", "memory"), "used_memory:", "\r\n"))
	}}
}

// Etcd starts one etcd server that does not wait for its disk.
func Etcd(t testing.TB) *Engine {
	t.Helper()
	s := servers.Etcd(t, "--quota-backend-bytes=8589934592") // more than a million names take
	version := fieldOf(ask(t, http.MethodGet, "http://"+s.Addr+"/version"), `"etcdserver":"`, `"`)
	return &Engine{Addr: s.Addr, Version: "etcd " + version + ", one member", pid: s.Pid, Size: func() int64 {
		status := ask(t, http.MethodPost, "http://"+s.Addr+"/v3/maintenance/status")
		return bytes(t, fieldOf(status, `"dbSizeInUse":"`, `"`))
	}}
}

// ZooKeeper starts one ZooKeeper server that does not wait for its disk.
func ZooKeeper(t testing.TB) *Engine {
	t.Helper()
	s := servers.ZooKeeper(t)
	version := fieldOf(s.ZooKeeperWord(t, "srvr"), "Zookeeper version: ", "-")
	return &Engine{Addr: s.Addr, Version: "ZooKeeper " + version + ", one server", pid: s.Pid, Size: func() int64 {
		return bytes(t, fieldOf(monitor(t, s.Addr), "zk_approximate_data_size\t", "\n"))
	}}
}

// monitor returns what ZooKeeper says of itself. That is long, and it takes time on a busy machine: a server whose
// client has gone by then writes each line of the answer into its log, as an error.
func monitor(t testing.TB, addr string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "mntr"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func ask(t testing.TB, method, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
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

// bytes reads a number that a server answered.
func bytes(t testing.TB, answer string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(answer), 10, 64)
	if err != nil {
		t.Fatalf("the size is %q", answer)
	}
	return n
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
	addrs, sizes := []string{first.Addr}, []func() int64{first.Size}
	all := &Engine{Version: fmt.Sprintf("%s, %d servers", first.Version, redlockServers), pid: first.pid}
	for range redlockServers - 1 {
		e := Redis(t)
		addrs, all.others, sizes = append(addrs, e.Addr), append(all.others, e.pid), append(sizes, e.Size)
	}
	all.Size = func() (sum int64) {
		for _, size := range sizes {
			sum += size()
		}
		return sum
	}
	all.Addr = strings.Join(addrs, ",")
	return all
}
