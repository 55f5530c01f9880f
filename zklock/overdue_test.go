package zklock_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/zklock"
)

// A server, or the way to it, stops answering, and its connections stay. Requests go to another one, long before the
// client library notices, which is after two thirds of the session's time.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	ways := map[string]*proxy.Proxy{}
	var addrs []string
	for range 3 {
		p := proxy.New(t, addr)
		ways[p.Addr], addrs = p, append(addrs, p.Addr)
	}
	var newest lastDialled
	d := open(t, &zklock.Options{Dial: newest.dial}, addrs...)
	held := acquire(t, d, claim("held", longest))
	for range 2 {
		ways[newest.addr()].BlackHole()
		ctx, cancel := context.WithTimeout(limit(t), longest/2)
		if st, err := d.Request(ctx, held); err != nil || !st.Granted {
			t.Errorf("a renewal: %+v, %v", st, err)
		}
		cancel()
	}
	release(t, d, acquire(t, d, claim("free", longest)))
}

// A lastDialled knows where the newest connection goes.
type lastDialled struct {
	mu   sync.Mutex
	last string
}

func (l *lastDialled) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	l.mu.Lock()
	l.last = address
	l.mu.Unlock()
	return net.DialTimeout(network, address, timeout)
}

func (l *lastDialled) addr() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
