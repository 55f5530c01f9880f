package wire

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// A Counter is a proxy for a Redis server that counts the requests passing through it. A request is counted before it
// is forwarded, so whoever has a reply finds its request in the count.
type Counter struct {
	listener net.Listener
	upstream string
	renews   func(Command) bool

	requests, upkeep atomic.Int64

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
	wg     sync.WaitGroup
}

// A Count is what has passed so far. Subtract two to get what passed between them.
type Count struct {
	Requests int64 // what was asked for
	Upkeep   int64 // renewals of locks, and the pings with which client libraries check their connections
}

// Sub returns what passed since earlier.
func (c Count) Sub(earlier Count) Count {
	return Count{c.Requests - earlier.Requests, c.Upkeep - earlier.Upkeep}
}

// Listen starts a counter in front of the server at upstream. Requests for which renews returns true are counted as
// upkeep; nil means that there are none.
func Listen(upstream string, renews func(Command) bool) (*Counter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Counter{listener: listener, upstream: upstream, renews: renews}
	c.wg.Go(c.accept)
	return c, nil
}

// Addr is where clients connect.
func (c *Counter) Addr() string { return c.listener.Addr().String() }

// Count returns what has passed so far.
func (c *Counter) Count() Count { return Count{c.requests.Load(), c.upkeep.Load()} }

// Close ends all connections, and returns when nothing of the counter runs any more.
func (c *Counter) Close() error {
	err := c.listener.Close()
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
func (c *Counter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.upstream)
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
	c.wg.Go(func() { defer hangUp(); c.forward(client, server) })
	c.wg.Go(func() { defer hangUp(); _, _ = io.Copy(client, server) })
}

// keep remembers connections for Close; false means that Close was first.
func (c *Counter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conns...)
	return !c.closed
}

// forward counts requests and sends them on. It waits only for the rest of a request that came in part, which its sender
// owes without being answered first.
func (c *Counter) forward(client io.Reader, server io.Writer) {
	var arrived bytes.Buffer
	r := bufio.NewReaderSize(io.TeeReader(client, &arrived), 64<<10)
	for {
		command, err := readCommand(r)
		if err != nil {
			return
		}
		c.count(command)
		if r.Buffered() > 0 {
			continue
		}
		if _, err := arrived.WriteTo(server); err != nil {
			return
		}
	}
}

func (c *Counter) count(command Command) {
	if c.isUpkeep(command) {
		c.upkeep.Add(1)
		return
	}
	c.requests.Add(1)
}

func (c *Counter) isUpkeep(command Command) bool {
	return command.Name() == "PING" || c.renews != nil && c.renews(command)
}
