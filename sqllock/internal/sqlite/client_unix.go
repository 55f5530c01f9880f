//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/holdfast-go/holdfast/driver"
)

// canWake says whether clients can wake each other, and see whether they live.
const canWake = true

// A client is a driver as others see it: a FIFO in the folder of the database. It lives while a process has the FIFO
// open for reading. Others write to it the IDs of claims, to wake those who wait for news of them.
type client struct {
	id      string
	folder  *folder
	fifo    *os.File        // open for writing as well, so that what is read has no end; nil until it joins
	notify  func(id string) // called with the ID of a claim to which something happened, or of a client that has died
	life    context.Context
	end     context.CancelFunc // of life
	running sync.WaitGroup     // what calls notify

	mu      sync.Mutex
	heirs   *os.File        // what children inherit; nil until somebody asks for it
	watched map[string]bool // clients whose death is awaited
}

func newClient(notify func(id string)) *client {
	c := &client{id: rand.Text(), notify: notify, watched: make(map[string]bool)}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// join makes a client known. It is called in a transaction, because a sweep could take the FIFO for that of a dead
// client before it is open, and again when that transaction is begun again.
func (c *client) join(f *folder) (err error) {
	if c.fifo != nil {
		return nil
	}
	if c.fifo, err = f.makeFIFO(c.id); err != nil {
		return fmt.Errorf("make the FIFO of a client: %w", err)
	}
	c.folder = f
	c.running.Go(c.listen)
	return nil
}

// listen ends when the FIFO is closed.
func (c *client) listen() {
	for ids := bufio.NewScanner(c.fifo); ids.Scan(); {
		c.notify(ids.Text())
	}
}

// files are what a child has to keep open so that the client lives on in it.
func (c *client) files() []*os.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heirs == nil {
		heirs, err := c.folder.openFIFO(c.id, os.O_RDONLY)
		if err != nil {
			return nil // then the claims end with this process
		}
		c.heirs = heirs
	}
	return []*os.File{c.heirs}
}

// isAlive reports whether a client lives. If that cannot be told, for instance because somebody has removed its
// FIFO, it counts as alive: then only deadlines end its claims.
func (c *client) isAlive(id string) bool { return id == c.id || !c.folder.isDead(id) }

// wake tells another client, if it listens, that something happened to its claim. If the message is lost, the other
// finds out by its next poll.
func (c *client) wake(other, claim string) {
	fifo, err := c.folder.openFIFO(other, os.O_WRONLY)
	if err != nil {
		return
	}
	defer fifo.Close()
	if conn, err := fifo.SyscallConn(); err == nil {
		_ = conn.Write(func(fd uintptr) (done bool) {
			syscall.Write(int(fd), []byte(claim+"\n")) // so short a write is done in one piece, or not at all
			return true
		})
	}
}

// watch has notify called with the ID of a client when that has died.
func (c *client) watch(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.watched[id] && c.life.Err() == nil {
		c.watched[id] = true
		c.running.Go(func() { c.awaitDeath(id) })
	}
}

// awaitDeath ends with our client, too, and at once where the FIFO cannot be opened. When nobody reads a FIFO any
// more the system tells those who have it open for writing, as an error that they could read.
func (c *client) awaitDeath(id string) {
	fifo, err := c.folder.openFIFO(id, os.O_WRONLY)
	if err == nil {
		stop := context.AfterFunc(c.life, func() { fifo.Close() })
		if conn, err := fifo.SyscallConn(); err == nil {
			_ = conn.Read(func(uintptr) bool { return c.folder.isDead(id) })
		}
		for !c.folder.isDead(id) && driver.Sleep(c.life, pollPause) == nil { // where the system says nothing of readers
		}
		stop()
		fifo.Close()
	}
	c.mu.Lock()
	delete(c.watched, id) // first: who begins to watch now looks again
	c.mu.Unlock()
	if c.life.Err() == nil && c.folder.isDead(id) {
		c.notify(id)
	}
}

// leave ends the client, unless a child keeps its FIFO open. The FIFO is removed if nothing in the database refers
// to the client any more; otherwise it stays, and tells others that the client is dead.
func (c *client) leave(forget bool) {
	c.end()
	if c.fifo == nil {
		return
	}
	c.fifo.Close()
	c.mu.Lock()
	if c.heirs != nil {
		c.heirs.Close()
	}
	c.mu.Unlock()
	c.running.Wait()
	if forget && c.folder.isDead(c.id) {
		c.folder.remove(c.id)
	}
}
