package zklock_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// raw connects as any other program would.
func raw(t testing.TB, addrs ...string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(addrs, 20*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// A tap reads along what a driver and its servers say to each other.
type tap struct {
	mu       sync.Mutex
	requests int
	sessions map[int64][]byte // and their passwords
}

// Requests that depend on time alone, or on connections, and those that change the session.
const opPing, opClose, opAuth = 11, -11, 100

func (p *tap) options() *zklock.Options { return &zklock.Options{Dial: p.dial} }

func (p *tap) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &tapped{Conn: conn, tap: p}, nil
}

// counted is how many requests were sent, and forgets them.
func (p *tap) counted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.requests
	p.requests = 0
	return n
}

// tapped is a connection. The library writes each request at once.
type tapped struct {
	net.Conn
	tap      *tap
	asked    bool
	greeting []byte
}

func (c *tapped) Write(b []byte) (int, error) {
	if c.asked {
		switch op := int32(binary.BigEndian.Uint32(b[8:])); op {
		case opPing, opClose, opAuth:
		default:
			c.tap.mu.Lock()
			c.tap.requests++
			c.tap.mu.Unlock()
		}
	}
	c.asked = true
	return c.Conn.Write(b)
}

// What a greeting consists of: length, version, timeout, session, and the password with its length.
const greetingLength = 4 + 4 + 4 + 8 + 4 + 16

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if len(c.greeting) < greetingLength {
		c.greeting = append(c.greeting, b[:n]...)
		if g := c.greeting; len(g) >= greetingLength {
			c.tap.mu.Lock()
			if c.tap.sessions == nil {
				c.tap.sessions = make(map[int64][]byte)
			}
			c.tap.sessions[int64(binary.BigEndian.Uint64(g[12:]))] = g[24:greetingLength]
			c.tap.mu.Unlock()
		}
	}
	return n, err
}

// closeSessions ends the sessions that were seen, as an operator can who knows their passwords: through
// connections of his own.
func (p *tap) closeSessions(t *testing.T, s *servers.Server) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, password := range p.sessions {
		closeSession(t, s.Addr, id, password)
	}
}

func closeSession(t *testing.T, addr string, id int64, password []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	hello := binary.BigEndian.AppendUint32(nil, 0)           // version
	hello = binary.BigEndian.AppendUint64(hello, 0)          // has seen nothing yet
	hello = binary.BigEndian.AppendUint32(hello, 20_000)     // timeout
	hello = binary.BigEndian.AppendUint64(hello, uint64(id)) //
	hello = binary.BigEndian.AppendUint32(hello, 16)         //
	packets := append(packet(append(hello, password...)), packet([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5})...)
	if _, err := conn.Write(packets); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, conn) // until the server has closed it
}

func packet(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// put makes a node with its parents, as other programs would.
func put(t testing.TB, c *zk.Conn, flags int32, path string, data string) string {
	t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			c.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)) // or it is there
		}
	}
	made, err := c.Create(path, []byte(data), flags, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
	return made
}

// czxid is the number of the newest change: of one that makes a node, which is then deleted.
func czxid(t testing.TB, c *zk.Conn) int64 {
	t.Helper()
	path := put(t, c, zk.FlagEphemeral, "/now", "")
	_, stat, err := c.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(path, -1); err != nil {
		t.Fatal(err)
	}
	return stat.Czxid
}
