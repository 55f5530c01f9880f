package soak

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/redislock" // the scheme redis
)

type redis struct{ server *servers.Server }

// Redis starts a Redis server that writes down what it knows.
func Redis(t testing.TB) Store {
	return &redis{startRedis(t)}
}

func startRedis(t testing.TB) *servers.Server {
	return servers.Redis(t, "--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0")
}

func (r *redis) Name() string { return "Redis" }

func (r *redis) Open(t testing.TB) *drivertest.Facade { return open(t, "redis://"+r.server.Addr) }

// Size is what the server uses of its memory.
func (r *redis) Size(t testing.TB) int64 {
	n, err := strconv.ParseInt(r.info(t, "memory", "used_memory"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// info is one value of INFO.
func (r *redis) info(t testing.TB, section, name string) string {
	for line := range strings.Lines(r.server.RedisCommand(t, "INFO", section)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("INFO %s has no %s", section, name)
	return ""
}

func (r *redis) Mishaps() []Mishap {
	return []Mishap{
		{Name: "crash and restart", Do: r.crash},
		{Name: "failover to a replica", Moves: true, Do: r.failOver},
		{Name: "full pool", Do: r.fillPool},
	}
}

// crash loses nothing, because what was answered has been written.
func (r *redis) crash(t testing.TB) func() {
	r.server.Kill(t)
	r.server.Restart(t)
	return over
}

// failOver makes a replica, lets it catch up, and makes it the master.
func (r *redis) failOver(t testing.TB) func() {
	replica := &redis{startRedis(t)}
	host, port, _ := strings.Cut(r.server.Addr, ":")
	replica.server.RedisCommand(t, "REPLICAOF", host, port)
	eventually(t, "the replica has caught up", func() bool {
		return replica.info(t, "replication", "master_link_status") == "up" &&
			replica.info(t, "replication", "slave_repl_offset") == r.info(t, "replication", "master_repl_offset")
	})
	r.server.Kill(t)
	replica.server.RedisCommand(t, "REPLICAOF", "NO", "ONE")
	r.server = replica.server
	return over
}

// fillPool leaves room for nobody else.
func (r *redis) fillPool(t testing.TB) func() {
	const spare = 4
	connected, err := strconv.Atoi(r.info(t, "clients", "connected_clients"))
	if err != nil {
		t.Fatal(err)
	}
	r.server.RedisCommand(t, "CONFIG", "SET", "maxclients", strconv.Itoa(connected+spare))
	var fill []net.Conn
	for range 2 * spare {
		if conn, ok := r.connect(); ok {
			fill = append(fill, conn)
		}
	}
	if len(fill) == 2*spare {
		t.Error("more clients were let in than there is room for")
	}
	return func() {
		for _, conn := range fill {
			conn.Close()
		}
		eventually(t, "there is room again", func() bool {
			conn, ok := r.connect()
			if ok {
				conn.Close()
			}
			return ok
		})
		r.server.RedisCommand(t, "CONFIG", "SET", "maxclients", "10000")
	}
}

// connect reports whether the server lets one more in.
func (r *redis) connect() (net.Conn, bool) {
	conn, err := net.Dial("tcp", r.server.Addr)
	if err != nil {
		return nil, false
	}
	answer := make([]byte, len("+PONG"))
	if _, err = conn.Write([]byte("PING\r\n")); err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err != nil || string(answer) != "+PONG" {
		conn.Close()
		return nil, false
	}
	return conn, true
}

// eventually asks until ok says yes.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); driver.Sleep(t.Context(), 10*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}
