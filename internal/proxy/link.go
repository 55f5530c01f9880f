package proxy

import (
	"net"
	"slices"
	"sync"
	"time"
)

// A way is a direction of bytes.
type way int

const (
	toServer way = iota
	toClient
)

// A link is one client's connection, and ours to the server for it.
type link struct {
	proxy          *Proxy
	client, server *net.TCPConn
	closing        sync.Once
	closed         chan struct{}

	// Guarded by proxy.mu.
	counter Counter
	recent  []byte  // the last that the client sent
	answers verdict // what becomes of them
	held    *Held   // where the request is, or was
	dead    bool    // all bytes vanish, both ways
}

func newLink(p *Proxy, client, server net.Conn) *link {
	return &link{proxy: p, client: client.(*net.TCPConn), server: server.(*net.TCPConn), closed: make(chan struct{})}
}

// run forwards both ways until both have ended.
func (l *link) run() {
	var both sync.WaitGroup
	both.Go(func() { l.flow(toServer, l.client, l.server) })
	both.Go(func() { l.flow(toClient, l.server, l.client) })
	both.Wait()
}

func (l *link) close() {
	l.closing.Do(func() {
		close(l.closed)
		l.client.Close()
		l.server.Close()
	})
}

func (l *link) reset() {
	l.client.SetLinger(0)
	l.server.SetLinger(0)
	l.close()
}

// desert breaks off the client. The connection to the server stays open.
func (l *link) desert() {
	l.client.SetLinger(0)
	l.client.Close()
}

// A chunk is what one read returned.
type chunk struct {
	bytes []byte
	due   time.Time // when it may arrive
}

// flow forwards one way until the source ends or the link does. Reading goes on while chunks are on their way, so that
// a delay is not a jam, and while one is held, so that its client may leave.
func (l *link) flow(w way, src, dst *net.TCPConn) {
	const onTheWay = 1024
	chunks := make(chan chunk, onTheWay)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(chunks)
		l.read(src, chunks)
	})
	for c := range chunks {
		l.arrive(w, c, dst)
	}
	reading.Wait()
	l.end(w, dst)
}

func (l *link) read(src *net.TCPConn, chunks chan<- chunk) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			select {
			case chunks <- chunk{slices.Clone(buf[:n]), time.Now().Add(l.proxy.delay())}:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// arrive brings a chunk to its destination when it is due, unless a fault takes it.
func (l *link) arrive(w way, c chunk, dst *net.TCPConn) {
	if w == toClient {
		l.proxy.answered.Add(int64(len(c.bytes)))
	}
	l.await(c.due)
	switch l.judge(w, c.bytes) {
	case vanish:
		return
	case cut:
		l.close()
		return
	case desert:
		l.desert()
		return
	case hold:
		l.awaitDelivery()
	}
	var r Reaction
	if r.Pass = c.bytes; w == toServer {
		r = l.proxy.reaction(c.bytes)
	}
	l.client.Write(r.Answer)
	if r.Cut {
		defer l.close()
	}
	if _, err := dst.Write(r.Pass); err != nil && w == toServer { // a client that left may have a request on its way
		l.close()
	}
}

func (l *link) await(due time.Time) {
	if wait := time.Until(due); wait > 0 {
		select {
		case <-time.After(wait):
		case <-l.closed:
		}
	}
}

func (l *link) awaitDelivery() {
	select {
	case <-l.held.free:
	case <-l.closed:
	}
}

// end tells the destination that the source has ended, unless a fault keeps that from it.
func (l *link) end(w way, dst *net.TCPConn) {
	if l.silent(w) {
		<-l.closed
		return
	}
	dst.CloseWrite()
}

func (l *link) silent(w way) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.dead || l.proxy.faults.hole[w] || w == toClient && l.answers == vanish || w == toServer &&
		l.answers == desert
}
