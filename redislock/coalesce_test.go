package redislock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// countingConn counts system calls that write.
type countingConn struct {
	net.Conn
	writes atomic.Int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// connected returns both ends of a connection.
func connected(t *testing.T) (*countingConn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{near, far} {
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(2 * time.Minute))
	}
	return &countingConn{Conn: near}, far
}

// echo answers each line, until the connection ends.
func echo(far net.Conn) {
	for lines := bufio.NewScanner(far); lines.Scan(); {
		fmt.Fprintln(far, lines.Text())
	}
}

// Who writes and then reads, alone, gets the answer.
func TestWriteOfOne(t *testing.T) {
	near, far := connected(t)
	go echo(far)
	b := newCoalescingConn(near)
	defer b.Close()
	answers := bufio.NewReader(b)
	for i := range 100 {
		question := fmt.Sprintln("question", i)
		if _, err := io.WriteString(b, question); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil || answer != question {
			t.Fatalf("asked %q, was answered %q: %v", question, answer, err)
		}
	}
}

// What is written while somebody reads is sent, in order, and in fewer system calls than there were writes.
func TestWritesOfMany(t *testing.T) {
	const writers, each = 50, 40
	near, far := connected(t)
	b := newCoalescingConn(near)
	defer b.Close()
	go io.Copy(io.Discard, b)
	var order sync.Mutex
	sent := 0
	for range writers {
		go func() {
			for range each {
				order.Lock()
				fmt.Fprintln(b, sent)
				sent++
				order.Unlock()
			}
		}()
	}
	lines := bufio.NewScanner(far)
	for i := range writers * each {
		if !lines.Scan() || lines.Text() != fmt.Sprint(i) {
			t.Fatalf("line %d is %q: %v", i, lines.Text(), lines.Err())
		}
	}
	if n := near.writes.Load(); n > writers*each/2 {
		t.Errorf("%d writes took %d system calls", writers*each, n)
	}
}

// A broken connection shows, if not in the write that met it then in the next or in a read.
func TestWriteFails(t *testing.T) {
	near, far := connected(t)
	b := newCoalescingConn(near)
	near.Conn.Close()
	far.Close()
	if _, err := io.WriteString(b, "question\n"); err == nil {
		_, err = b.Read(make([]byte, 1))
		if err == nil {
			t.Error("nothing says that the connection is broken")
		}
	}
	if _, err := io.WriteString(b, "question\n"); err == nil {
		t.Error("a write succeeds after one failed")
	}
	if err := b.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := io.WriteString(b, "question\n"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
