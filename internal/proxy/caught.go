package proxy

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// patience is how long a server may take to answer a request that was caught.
const patience = 30 * time.Second

// A Held request has left its client and has not reached the server. All that the client sent after it waits behind.
type Held struct {
	caught, free, answered chan struct{}
	tell                   sync.Once // that it is answered
}

// HoldNext stops the next request that contains these bytes on its way.
func (p *Proxy) HoldNext(match []byte) *Held {
	h := &Held{caught: make(chan struct{}), free: make(chan struct{}), answered: make(chan struct{})}
	p.lay(match, func(l *link, _ []byte) verdict {
		close(h.caught)
		l.held = h
		return hold
	})
	return h
}

// Caught is closed when the request has come.
func (h *Held) Caught() <-chan struct{} { return h.caught }

// Deliver lets the request go on to the server, though its client may have closed the connection long ago, and returns
// when the server answers. It can be called once.
func (h *Held) Deliver(t testing.TB) {
	t.Helper()
	close(h.free)
	select {
	case <-h.answered:
	case <-time.After(patience):
		t.Fatalf("the request that was held is not answered after %v", patience)
	}
}

// A Copied request has reached the server, and may do so again.
type Copied struct {
	server string
	caught chan struct{}
	bytes  []byte
}

// CopyNext keeps a copy of the next request that contains these bytes, with what its client sent in one piece with it.
func (p *Proxy) CopyNext(match []byte) *Copied {
	c := &Copied{server: p.server, caught: make(chan struct{})}
	p.lay(match, func(_ *link, chunk []byte) verdict {
		c.bytes = slices.Clone(chunk)
		close(c.caught)
		return pass
	})
	return c
}

// Caught is closed when the request has come.
func (c *Copied) Caught() <-chan struct{} { return c.caught }

// Deliver sends the copy over a connection of its own, as a late duplicate, and returns when the server answers.
func (c *Copied) Deliver(t testing.TB) {
	t.Helper()
	<-c.caught
	conn, err := net.Dial("tcp", c.server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(c.bytes); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatalf("the copy of the request is not answered: %v", err)
	}
}
