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

// canRing says whether clients can tell each other something, and whether they live.
const canRing = true

// lines watch other clients. Those who watch the same client share what is open for it.
type lines struct {
	folder *folder

	mu   sync.Mutex
	open map[string]*line
}

// A line is open for reading on a FIFO of another client.
type line struct {
	watchers int
	file     *os.File
	ended    chan struct{} // closed when nobody has the FIFO open for writing any more
}

// watch returns a channel that is closed when one of the clients has died. It forgets them when ctx ends.
func (c *client) watch(ctx context.Context, ids []string) <-chan struct{} {
	died := make(chan struct{})
	var once sync.Once
	for _, id := range ids {
		l := c.lines.take(id)
		if l == nil {
			continue
		}
		go func() { // ends with ctx
			defer c.lines.drop(id)
			select {
			case <-l.ended:
				if c.awaitDeath(ctx, id) {
					once.Do(func() { close(died) })
				}
			case <-ctx.Done():
			}
		}()
	}
	return died
}

// awaitDeath waits until a client whose line has ended is dead. The kernel closes the files of a dying process one after
// the other. A child that lives on has closed the line and kept the locked file: then it may take long.
func (c *client) awaitDeath(ctx context.Context, id string) bool {
	for pace := (driver.Backoff{First: 100 * time.Microsecond, Most: netPause}); c.sees(id); {
		if pace.Pause(ctx) != nil {
			return false
		}
	}
	return true
}

// take begins to watch a client; nil when it has no line.
func (ls *lines) take(id string) *line {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.open[id]; l != nil {
		l.watchers++
		return l
	}
	f, err := ls.folder.open(id+lineSuffix, os.O_RDONLY, fs.ModeNamedPipe)
	if err != nil {
		return nil
	}
	if ls.open == nil {
		ls.open = make(map[string]*line)
	}
	l := &line{watchers: 1, file: f, ended: make(chan struct{})}
	ls.open[id] = l
	go l.read()
	return l
}

// read returns when the FIFO ends, since nobody writes to it, or when it is closed, since nobody watches.
func (l *line) read() {
	defer close(l.ended)
	l.file.Read(make([]byte, 1)) // its end is what is waited for
}

// drop ends what take began.
func (ls *lines) drop(id string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.open[id]
	if l.watchers--; l.watchers == 0 {
		delete(ls.open, id)
		l.file.Close()
	}
}
