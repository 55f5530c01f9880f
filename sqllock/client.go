package sqllock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A client is what others can see of one open driver: a file that it keeps locked, so that the kernel says when it is
// gone, and a FIFO beside it on which it listens.
type client struct {
	dir string
	id  string

	mu   sync.Mutex
	life *os.File // locked; nil after close
	bell *os.File // nil until listen, and after close
}

// Names of a client's files: its ID and one of these.
const (
	lifeSuffix = ".alive"
	bellSuffix = ".bell"
)

// register makes a client known in a folder that all clients of a database share.
func register(dir string) (*client, error) {
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make a folder for the clients: %w", err)
	}
	c := &client{dir: dir, id: rand.Text()}
	var err error
	if c.life, err = lockFile(c.path(c.id, lifeSuffix)); err != nil {
		return nil, fmt.Errorf("lock a file of this client: %w", err)
	}
	return c, nil
}

func (c *client) path(id, suffix string) string { return filepath.Join(c.dir, id+suffix) }

// sees reports whether another client lives. Where that cannot be told it is assumed: its claims end with their TTL.
func (c *client) sees(id string) bool {
	return id == c.id || isLocked(c.path(id, lifeSuffix))
}

// files are what keeps the client alive.
func (c *client) files() []*os.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life == nil {
		return nil
	}
	return []*os.File{c.life}
}

// listen opens the bell and calls heard with each message, in a goroutine that ends with close. Without a bell the
// safety net does all the work.
func (c *client) listen(heard func(message string)) {
	bell, err := openBell(c.path(c.id, bellSuffix))
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life == nil {
		bell.Close()
		return
	}
	c.bell = bell
	go readLines(bell, heard)
}

// ring sends a message to a client, if it listens.
func (c *client) ring(id, message string) { ringBell(c.path(id, bellSuffix), message) }

// close ends this client, unless a child that inherited its file lives on.
func (c *client) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	if c.bell != nil {
		errs = append(errs, c.bell.Close())
	}
	os.Remove(c.path(c.id, bellSuffix))
	if c.life != nil {
		errs = append(errs, c.life.Close())
	}
	c.life, c.bell = nil, nil
	if !isLocked(c.path(c.id, lifeSuffix)) {
		os.Remove(c.path(c.id, lifeSuffix))
	}
	return errors.Join(errs...)
}

// sweep removes the files of clients that are gone.
func (c *client) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), lifeSuffix)
		if ok && id != c.id {
			removeDead(c.path(id, lifeSuffix), c.path(id, bellSuffix))
		}
	}
}
