package proxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// An echo answers each line with the same line, and counts them.
type echo struct {
	addr  string
	lines atomic.Int64
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e := &echo{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
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
			return
		}
		e.lines.Add(1)
		io.WriteString(c, line)
	}
}

// A caller is a client of the echo through a proxy.
type caller struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, addr string) *caller {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &caller{c, bufio.NewReader(c)}
}

// call sends a line and returns what comes back within a time.
func (c *caller) call(line string, within time.Duration) (string, error) {
	io.WriteString(c, line+"\n")
	c.SetReadDeadline(time.Now().Add(within))
	answer, err := c.r.ReadString('\n')
	return answer, err
}

const soon, long = 100 * time.Millisecond, 10 * time.Second

func TestPassesOn(t *testing.T) {
	e := startEcho(t)
	p := proxy.New(t, e.addr)
	p.Count(func(b []byte) int { return len(b) })
	if got, err := dial(t, p.Addr).call("hello", long); got != "hello\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if n := p.Counted(); n != 6 {
		t.Errorf("counted %d bytes, want 6", n)
	}
}

func TestBlackHole(t *testing.T) {
	e := startEcho(t)
	p := proxy.New(t, e.addr)
	c := dial(t, p.Addr)
	c.call("before", long)
	p.BlackHole()
	for name, c := range map[string]*caller{"open": c, "new": dial(t, p.Addr)} {
		if got, err := c.call("vanishes", soon); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s connection: %q, %v, want silence", name, got, err)
		}
	}
	if n := e.lines.Load(); n != 1 {
		t.Errorf("%d lines arrived, want 1", n)
	}
	p.Heal()
	if got, err := dial(t, p.Addr).call("after", long); got != "after\n" || err != nil {
		t.Errorf("healed: %q, %v", got, err)
	}
	c.SetReadDeadline(time.Now().Add(long))
	if _, err := c.r.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection with a gap goes on after healing: %v", err)
	}
}

func TestBlackHoleAnswers(t *testing.T) {
	e := startEcho(t)
	p := proxy.New(t, e.addr)
	c := dial(t, p.Addr)
	c.call("before", long)
	p.BlackHoleAnswers()
	if _, err := c.call("applied", soon); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v, want silence", err)
	}
	if n := e.lines.Load(); n != 2 {
		t.Errorf("%d lines arrived, want 2", n)
	}
}

func TestDropNextReplyAfter(t *testing.T) {
	e := startEcho(t)
	p := proxy.New(t, e.addr)
	a, b := dial(t, p.Addr), dial(t, p.Addr)
	p.DropNextReplyAfter([]byte("this one"))
	if got, err := a.call("another", long); got != "another\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := a.call("this one", long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v, want a closed connection", got, err)
	}
	if n := e.lines.Load(); n != 2 {
		t.Errorf("%d lines arrived, want 2", n)
	}
	if got, err := b.call("this one", long); got != "this one\n" || err != nil {
		t.Errorf("the fault hit twice: %q, %v", got, err)
	}
}

func TestDelay(t *testing.T) {
	p := proxy.New(t, startEcho(t).addr)
	c := dial(t, p.Addr)
	c.call("before", long)
	p.Delay(20 * time.Millisecond)
	start := time.Now()
	if _, err := c.call("slow", long); err != nil || time.Since(start) < 40*time.Millisecond {
		t.Errorf("there and back took %v, %v", time.Since(start), err)
	}
}

func TestReset(t *testing.T) {
	p := proxy.New(t, startEcho(t).addr)
	c := dial(t, p.Addr)
	c.call("before", long)
	p.Reset()
	if _, err := c.call("after", long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) { // some kernels show an end
		t.Errorf("%v, want a connection that is no more", err)
	}
}

func TestRESP(t *testing.T) {
	for chunk, want := range map[string]int{
		"*1\r\n$4\r\nPING\r\n":                     1,
		"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n": 2,
		"$4\r\nPING\r\n":                           0,
	} {
		if got := proxy.RESP([]byte(chunk)); got != want {
			t.Errorf("%q: %d requests, want %d", chunk, got, want)
		}
	}
}
