//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// canWake says whether clients can wake each other, and see whether they live.
const canWake = true

// A peerWatch notices when other clients die. Those who watch the same peer share what is open for it.
type peerWatch struct {
	folder *folder

	mu    sync.Mutex
	peers map[string]*peer
}

// A peer is another client whose FIFO is open for reading.
type peer struct {
	watchers int
	fifo     *os.File
	ended    chan struct{} // closed when nobody has the FIFO open for writing any more
}

// watch returns a channel that is closed when one of the clients has died. It forgets them when ctx ends.
func (c *client) watch(ctx context.Context, ids []string) <-chan struct{} {
	died := make(chan struct{})
	var once sync.Once
	for _, id := range ids {
		p := c.peers.add(id)
		if p == nil {
			continue
		}
		go func() { // ends with ctx
			defer c.peers.remove(id)
			select {
			case <-p.ended:
				if c.awaitDeath(ctx, id) {
					once.Do(func() { close(died) })
				}
			case <-ctx.Done():
			}
		}()
	}
	return died
}

// awaitDeath waits until a client whose FIFO has ended is dead. It has to wait because the kernel closes the files of a
// dying process one after the other. If a child lives on that has closed the FIFO and kept the locked file, it may take
// long.
func (c *client) awaitDeath(ctx context.Context, id string) bool {
	for pace := (driver.Backoff{First: 100 * time.Microsecond, Most: pollPause}); c.isAlive(id); {
		if pace.Pause(ctx) != nil {
			return false
		}
	}
	return true
}

// add begins to watch a client; nil when its FIFO cannot be opened.
func (w *peerWatch) add(id string) *peer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.peers[id]; p != nil {
		p.watchers++
		return p
	}
	f, err := w.folder.open(id+watchSuffix, os.O_RDONLY, fs.ModeNamedPipe)
	if err != nil {
		return nil
	}
	if w.peers == nil {
		w.peers = make(map[string]*peer)
	}
	p := &peer{watchers: 1, fifo: f, ended: make(chan struct{})}
	w.peers[id] = p
	go p.read()
	return p
}

// read returns when the FIFO ends, because nobody can write to it any more, or when it is closed, because nobody
// watches.
func (p *peer) read() {
	defer close(p.ended)
	p.fifo.Read(make([]byte, 1)) // nobody ever writes to it: what comes is its end
}

// remove ends what add began.
func (w *peerWatch) remove(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.peers[id]
	if p.watchers--; p.watchers == 0 {
		delete(w.peers, id)
		p.fifo.Close()
	}
}
