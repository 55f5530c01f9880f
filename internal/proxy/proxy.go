// Package proxy stands between clients and a server in tests, and does to their bytes what networks do. Nothing in it
// is random: the same calls around the same requests do the same again.
package proxy

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Proxy forwards TCP connections to one server. Its methods may be called at any time by anybody, and take effect at
// once, on open connections too.
type Proxy struct {
	Addr string // host:port; where clients connect

	running  sync.WaitGroup // all goroutines
	answered atomic.Int64

	mu      sync.Mutex
	server  string
	shut    bool
	links   map[*link]struct{}
	faults  faults
	react   func(chunk []byte) Reaction
	counter func() Counter // of a new connection
	counted int
}

// New starts a proxy to the server at this address until the test ends.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), server: server, links: make(map[*link]struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	p.running.Go(func() { p.accept(ctx, l) })
	t.Cleanup(func() {
		cancel()
		l.Close()
		p.close()
		p.running.Wait()
	})
	return p
}

func (p *Proxy) accept(ctx context.Context, l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.forward(ctx, client) })
	}
}

// forward serves one connection until both sides have closed it or a fault has. Where no server listens it closes it at
// once.
func (p *Proxy) forward(ctx context.Context, client net.Conn) {
	var dialer net.Dialer
	to := p.leadsTo()
	server, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		client.Close()
		return
	}
	l := newLink(p, client, server)
	defer l.close()
	if p.join(l, to) {
		defer p.leave(l)
		l.run()
	}
}

func (p *Proxy) leadsTo() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server
}

// join adds a link that was made to a server, unless the proxy has ended or leads elsewhere meanwhile.
func (p *Proxy) join(l *link, to string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut || p.server != to {
		return false
	}
	if p.counter != nil {
		l.counter = p.counter()
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// close ends all links, and those to come.
func (p *Proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	for l := range p.links {
		l.close()
	}
}

func (p *Proxy) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.delay
}
