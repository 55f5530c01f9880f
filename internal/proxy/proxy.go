// Package proxy stands between a client and a server in tests, and does to their bytes what networks do.
package proxy

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// A Proxy forwards TCP connections to one server. Its methods take effect at once, on open connections too.
type Proxy struct {
	Addr string // host:port; where clients connect

	server string

	mu      sync.Mutex
	changed *sync.Cond
	links   map[*link]struct{}
	rules   rules
	count   func([]byte) int
	counted int
	closed  bool
}

// rules are what happens to bytes.
type rules struct {
	holeUp, holeDown bool          // bytes to the server, or from it, vanish
	delay            time.Duration // each chunk, each way
	dropAfter        []byte        // the next request with these bytes reaches the server; its answer does not come back
}

// A link is one client's connection, and ours to the server for it.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	deaf           bool // answers vanish and the link is closed with the first of them; guarded by proxy.mu
}

// New starts a proxy to the server at this address until the test ends.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), server: server, links: make(map[*link]struct{})}
	p.changed = sync.NewCond(&p.mu)
	var accepting sync.WaitGroup
	accepting.Go(func() { p.accept(l) })
	t.Cleanup(func() {
		l.Close()
		accepting.Wait()
		p.shut()
	})
	return p
}

// BlackHole makes all bytes vanish, both ways, until Heal. Connections stay open, and new ones are accepted.
func (p *Proxy) BlackHole() { p.set(func(r *rules) { r.holeUp, r.holeDown = true, true }) }

// BlackHoleAnswers makes what the server sends vanish until Heal: requests are applied.
func (p *Proxy) BlackHoleAnswers() { p.set(func(r *rules) { r.holeDown = true }) }

// Delay holds every chunk of bytes back for d, each way.
func (p *Proxy) Delay(d time.Duration) { p.set(func(r *rules) { r.delay = d }) }

// DropNextReplyAfter lets the next request that contains these bytes reach the server, and closes its connection when
// the answer comes, which the client never sees.
func (p *Proxy) DropNextReplyAfter(match []byte) { p.set(func(r *rules) { r.dropAfter = match }) }

// Heal ends all faults. Connections through which bytes vanished are closed, as their streams have gaps.
func (p *Proxy) Heal() {
	p.mu.Lock()
	hole := p.rules.holeUp || p.rules.holeDown
	p.rules = rules{}
	p.mu.Unlock()
	if hole {
		p.Reset()
	}
}

// Reset breaks all connections off.
func (p *Proxy) Reset() {
	for _, l := range p.open() {
		for _, c := range []net.Conn{l.client, l.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				tcp.SetLinger(0)
			}
			c.Close()
		}
	}
}

// Count begins to count what clients send: n says how many requests a chunk of bytes begins.
func (p *Proxy) Count(n func(chunk []byte) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.counted = n, 0
}

// Counted returns the count so far.
func (p *Proxy) Counted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counted
}

func (p *Proxy) set(change func(*rules)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.rules)
}

func (p *Proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go p.forward(client)
	}
}

// forward serves one connection until either side closes it.
func (p *Proxy) forward(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		client.Close()
		return
	}
	l := &link{proxy: p, client: client, server: server}
	if !p.join(l) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.copy(server, client, l.up) })
	both.Go(func() { l.copy(client, server, l.down) })
	both.Wait()
	p.leave(l)
}

// copy passes chunks on as long as judge lets it.
func (l *link) copy(dst, src net.Conn, judge func(chunk []byte) (verdict, time.Duration)) {
	defer l.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			v, delay := judge(buf[:n])
			time.Sleep(delay)
			switch v {
			case pass:
				if _, err := dst.Write(buf[:n]); err != nil {
					return
				}
			case cut:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// A verdict is what becomes of a chunk.
type verdict int

const (
	pass verdict = iota
	vanish
	cut // and the link with it
)

// up judges what the client sends.
func (l *link) up(chunk []byte) (verdict, time.Duration) {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count != nil {
		p.counted += p.count(chunk)
	}
	if p.rules.holeUp {
		return vanish, 0
	}
	if len(p.rules.dropAfter) > 0 && bytes.Contains(chunk, p.rules.dropAfter) {
		p.rules.dropAfter, l.deaf = nil, true
	}
	return pass, p.rules.delay
}

// down judges what the server sends.
func (l *link) down([]byte) (verdict, time.Duration) {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case l.deaf:
		return cut, 0
	case p.rules.holeDown:
		return vanish, 0
	default:
		return pass, p.rules.delay
	}
}

func (l *link) close() {
	l.client.Close()
	l.server.Close()
}

func (p *Proxy) join(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.close()
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
	p.changed.Broadcast()
}

func (p *Proxy) open() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	var links []*link
	for l := range p.links {
		links = append(links, l)
	}
	return links
}

// shut closes everything and waits until no goroutine is left.
func (p *Proxy) shut() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for _, l := range p.open() {
		l.close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.links) > 0 {
		p.changed.Wait()
	}
}

// RESP counts the requests of the Redis protocol that begin in a chunk. A request is an array of bulk strings, so it
// begins with '*' after the end of the one before.
func RESP(chunk []byte) int {
	n := bytes.Count(chunk, []byte("\r\n*"))
	if bytes.HasPrefix(chunk, []byte("*")) {
		n++
	}
	return n
}
