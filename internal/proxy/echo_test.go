package proxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// An echo is a server that answers each line with the same line. It tells what it learns.
type echo struct {
	addr  string
	lines chan string       // what came, in order
	ends  chan error        // how connections ended: io.EOF when the client closed it
	conns chan *net.TCPConn // those accepted
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e := &echo{l.Addr().String(), make(chan string, 100), make(chan error, 100), make(chan *net.TCPConn, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.conns <- c.(*net.TCPConn)
			go e.serve(c)
		}
	}()
	return e
}

func (e *echo) serve(c net.Conn) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			e.ends <- err
			return
		}
		e.lines <- strings.TrimSpace(line)
		io.WriteString(c, line)
	}
}

// got checks what has come by now.
func (e *echo) got(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if line := next(t, e.lines); line != w {
			t.Errorf("the server got %q, want %q", line, w)
		}
	}
	select {
	case line := <-e.lines:
		t.Errorf("the server got %q too", line)
	default:
	}
}

// next waits for something that must come.
func next[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(long):
		t.Fatal("it does not come")
	}
	return v
}

// soon is how long silence is listened to, and long how long something that must come may take.
const soon, long = 100 * time.Millisecond, time.Minute

// between starts an echo and a proxy to it.
func between(t *testing.T) (*echo, *proxy.Proxy) {
	t.Helper()
	e := startEcho(t)
	return e, proxy.New(t, e.addr)
}

// betweenTwo is between with two clients of the server behind it.
func betweenTwo(t *testing.T) (e *echo, p *proxy.Proxy, a, b *caller) {
	t.Helper()
	e, p = between(t)
	return e, p, dial(t, e, p), dial(t, e, p)
}

// A caller is a client.
type caller struct {
	*net.TCPConn
	t *testing.T
	r *bufio.Reader
}

// dial connects, and knows by an answer that the whole way is open.
func dial(t *testing.T, e *echo, p *proxy.Proxy) *caller {
	t.Helper()
	c := dialOnly(t, p)
	c.call("hello")
	e.got(t, "hello")
	return c
}

func dialOnly(t *testing.T, p *proxy.Proxy) *caller {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &caller{c.(*net.TCPConn), t, bufio.NewReader(c)}
}

func (c *caller) say(line string) { io.WriteString(c, line+"\n") }

// call says a line, and fails unless it comes back.
func (c *caller) call(line string) {
	c.t.Helper()
	c.say(line)
	if got, err := c.hear(long); got != line || err != nil {
		c.t.Errorf("said %q, heard %q, %v", line, got, err)
	}
}

func (c *caller) hear(within time.Duration) (string, error) {
	c.SetReadDeadline(time.Now().Add(within))
	line, err := c.r.ReadString('\n')
	return strings.TrimSpace(line), err
}

// hearsNothing fails if anything comes, an end too.
func (c *caller) hearsNothing() {
	c.t.Helper()
	if got, err := c.hear(soon); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("heard %q, %v, want silence", got, err)
	}
}

// ends fails unless the connection ends, with nothing before, and returns how.
func (c *caller) ends() error {
	c.t.Helper()
	got, err := c.hear(long)
	if got != "" || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("heard %q, %v, want the connection's end", got, err)
	}
	return err
}
