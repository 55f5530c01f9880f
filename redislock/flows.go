package redislock

import (
	"context"
	"net"
	"sync"
	"time"
)

// flows are the connections that a client has open. One may be dead without a word: what is sent vanishes, nothing comes, and
// new ones work. A firewall that forgot it does that, or an address that moved. TCP notices after minutes. So a connection on
// which an attempt was not answered, and nothing else was, is closed, and the next attempt goes over a new one.
type flows struct {
	blocks  time.Duration // how long a command may take by itself
	connect time.Duration // until when the first answer must have come on a new connection

	mu   sync.Mutex
	open map[*coalescingConn]struct{}
}

func newFlows() *flows { return &flows{open: make(map[*coalescingConn]struct{})} }

// blocking is for how long the commands of a driver with these options may take by themselves.
func (o Options) blocking() time.Duration {
	switch {
	case o.Replicas > 0:
		return o.ReplicasWithin
	case o.Layout == PythonRedisLock:
		return popFor
	}
	return 0
}

// Bounds of how long a connection may be silent while an answer is missing. Where an attempt gave up, that is suspicious early.
// Nobody waits for the answers to a client's pings, which it sends every second where nothing comes, on a subscription too.
const (
	suspicious = 100 * time.Millisecond
	deaf       = 3 * time.Second
)

// add takes what a dialer returns.
func (f *flows) add(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	b := newCoalescingConn(c)
	f.mu.Lock()
	f.open[b] = struct{}{}
	f.mu.Unlock()
	b.closing = func() { f.remove(b) }
	b.listen(deaf + f.blocks)
	time.AfterFunc(f.connect, func() {
		if b.heard.Load() == 0 {
			b.Close()
		}
	})
	return b, nil
}

func (f *flows) remove(b *coalescingConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, b)
}

// watch begins an attempt. What it returns is called at its end, and closes the connections that have been silent since if the
// attempt was given up.
func (f *flows) watch(ctx context.Context) (end func()) {
	if f == nil {
		return func() {}
	}
	began := time.Since(started)
	return func() {
		if ctx.Err() != nil {
			f.suspect(began)
		}
	}
}

// suspect closes the connections on which nothing has come since an instant, though an answer is missing.
func (f *flows) suspect(since time.Duration) {
	var silent []*coalescingConn
	f.mu.Lock()
	for b := range f.open {
		if b.silence() >= suspicious+f.blocks && time.Duration(b.heard.Load()) < since {
			silent = append(silent, b)
		}
	}
	f.mu.Unlock()
	for _, b := range silent {
		b.Close()
	}
}

// ask notes that something is sent, to which an answer will come.
func (b *coalescingConn) ask() { b.asked.CompareAndSwap(0, int64(time.Since(started))) }

// hear notes that something has come.
func (b *coalescingConn) hear() {
	b.heard.Store(int64(time.Since(started)))
	b.asked.Store(0)
}

// silence is for how long an answer is missing, with nothing else coming either.
func (b *coalescingConn) silence() time.Duration {
	asked := b.asked.Load()
	if asked == 0 {
		return 0
	}
	return time.Since(started) - time.Duration(asked)
}

// listen closes the connection when it has been silent for too long.
func (b *coalescingConn) listen(patience time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.listening = time.AfterFunc(patience/4, func() {
		if b.silence() >= patience {
			b.Close()
			return
		}
		b.listen(patience)
	})
}
