// Package wire counts the requests that clients send to a server, by standing between them.
package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
)

// A Counter is a proxy for a server that counts the requests passing through it. A request is counted before it
// is forwarded, so whoever has a reply finds its request in the count.
type Counter struct {
	listeners []net.Listener
	protocol  Protocol

	mu        sync.Mutex
	passed    Count
	conns     []net.Conn
	connected int
	closed    bool
	wg        sync.WaitGroup
}

// Listen starts a counter in front of the server at upstream, to which clients speak this protocol. With several
// servers, separated by commas, it counts what goes to all of them.
func Listen(upstream string, protocol Protocol) (*Counter, error) {
	c := &Counter{protocol: protocol}
	for server := range strings.SplitSeq(upstream, ",") {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.listeners = append(c.listeners, listener)
		c.wg.Go(func() { c.accept(listener, server) })
	}
	return c, nil
}

// Addr is where clients connect: as many addresses as there are servers.
func (c *Counter) Addr() string {
	addrs := make([]string, len(c.listeners))
	for i, l := range c.listeners {
		addrs[i] = l.Addr().String()
	}
	return strings.Join(addrs, ",")
}

// Count returns what has passed so far.
func (c *Counter) Count() Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// Connected returns how many clients are connected now.
func (c *Counter) Connected() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected
}

// Close ends all connections, and returns when nothing of the counter runs any more.
func (c *Counter) Close() error {
	var err error
	for _, l := range c.listeners {
		err = errors.Join(err, l.Close())
	}
	c.mu.Lock()
	c.closed = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.wg.Wait()
	return err
}

// accept serves clients until the listener is closed.
func (c *Counter) accept(listener net.Listener, upstream string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.serve(client, server)
	}
}

// serve forwards in both directions. The end of either ends both.
func (c *Counter) serve(client, server net.Conn) {
	hangUp := func() { _ = client.Close(); _ = server.Close() }
	if !c.keep(client, server) {
		hangUp()
		return
	}
	c.wg.Go(func() { defer c.left(); defer hangUp(); c.forward(client, server) })
	c.wg.Go(func() { defer hangUp(); _, _ = io.Copy(client, server) })
}

// keep remembers connections for Close; false means that Close was first.
func (c *Counter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conns...)
	if !c.closed {
		c.connected++
	}
	return !c.closed
}

// left notes that a client is gone.
func (c *Counter) left() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connected--
}

// forward counts what passes and sends it on. It waits only for the rest of a piece that came in part, which its sender
// owes without being answered first.
func (c *Counter) forward(client io.Reader, server io.Writer) {
	var arrived bytes.Buffer
	r := bufio.NewReaderSize(io.TeeReader(client, &arrived), 64<<10)
	next := c.protocol(r)
	for {
		piece, err := next()
		if err != nil {
			return
		}
		c.count(piece)
		if r.Buffered() > 0 {
			continue
		}
		if _, err := arrived.WriteTo(server); err != nil {
			return
		}
	}
}

func (c *Counter) count(piece Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = c.passed.add(piece)
}
