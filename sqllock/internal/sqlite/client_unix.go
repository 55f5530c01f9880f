//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Each client has these files in the folder of the database. Their names begin with its ID.
const (
	aliveSuffix = ".alive" // locked while its process lives
	heirsSuffix = ".heirs" // made when it is to be inherited, and locked while a process lives that inherited it
	watchSuffix = ".line"  // a FIFO that the client keeps open for writing: peers see its end when the client is gone
	wakeSuffix  = ".bell"  // a FIFO to which peers write the IDs of claims, to wake those who wait for news of them
)

// A client is a driver as others see it.
type client struct {
	id       string
	database *database
	alive    *os.File
	heirs    *os.File // nil until somebody asks for what children inherit
	watched  *os.File
	wakeups  *os.File
	peers    peerWatch
	stopped  chan struct{} // closed when listen has returned

	inheriting sync.Mutex // guards heirs
}

// join makes a client known. wake is called, by one goroutine that ends with leave, with the ID of each claim to which
// something happened.
func join(db *database, wake func(id string)) (_ *client, err error) {
	c := &client{id: rand.Text(), database: db, stopped: make(chan struct{})}
	c.peers.folder = db.folder
	defer func() {
		if err != nil {
			c.closeFiles()
			err = fmt.Errorf("make the files of a client: %w", err)
		}
	}()
	// The locked file comes first: without it, peers would take the others for those of a dead client.
	if c.alive, err = db.folder.lockFile(c.id + aliveSuffix); err != nil {
		return nil, err
	}
	if c.watched, err = db.folder.shareFIFO(c.id + watchSuffix); err != nil {
		return nil, err
	}
	if c.wakeups, err = db.folder.shareFIFO(c.id + wakeSuffix); err != nil {
		return nil, err
	}
	go c.listen(wake)
	return c, nil
}

// listen ends when its FIFO is closed.
func (c *client) listen(wake func(id string)) {
	defer close(c.stopped)
	for ids := bufio.NewScanner(c.wakeups); ids.Scan(); {
		wake(ids.Text())
	}
}

// files are what a child has to keep open so that the client lives on in it. The lock that it inherits is not that of
// this process, because those who share an open file share its lock, and a child could drop it.
func (c *client) files() []*os.File {
	c.inheriting.Lock()
	defer c.inheriting.Unlock()
	if c.heirs == nil {
		heirs, err := c.database.folder.lockFile(c.id + heirsSuffix)
		if err != nil {
			return nil // then the claims end with this process
		}
		c.heirs = heirs
	}
	return []*os.File{c.heirs, c.watched}
}

// isAlive reports whether a client lives. If that cannot be told, for instance because somebody has removed its file,
// it counts as alive: then only deadlines end its claims.
func (c *client) isAlive(id string) bool {
	if id == c.id {
		return true
	}
	f := c.database.folder
	return !f.isUnlocked(id+aliveSuffix) || f.exists(id+heirsSuffix) && !f.isUnlocked(id+heirsSuffix)
}

// wake tells another client, if it listens, that something happened to its claim. If the message is lost, the other
// finds out by its next poll.
func (c *client) wake(other, claim string) {
	fifo, err := c.database.folder.open(other+wakeSuffix, os.O_WRONLY, fs.ModeNamedPipe)
	if err != nil {
		return
	}
	defer fifo.Close()
	conn, err := fifo.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Write(func(fd uintptr) (done bool) {
		syscall.Write(int(fd), []byte(claim+"\n")) // so short a write is done in one piece, or not at all
		return true
	})
}

// others returns the clients that have files, except this one.
func (c *client) others() []string {
	return slices.DeleteFunc(clientsOf(c.database), func(id string) bool { return id == c.id })
}

// inUse reports whether a client of a database certainly lives, apart from one, which may be nil.
func inUse(db *database, but *client) bool {
	return slices.ContainsFunc(clientsOf(db), func(id string) bool {
		return (but == nil || id != but.id) &&
			(db.folder.isLocked(id+aliveSuffix) || db.folder.isLocked(id+heirsSuffix))
	})
}

// clientsOf returns the clients that have files.
func clientsOf(db *database) []string {
	var ids []string
	for _, name := range db.folder.list() {
		if id, ok := strings.CutSuffix(name, aliveSuffix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// leave ends the client, unless a child keeps its files open. The files are removed if nothing in the database refers
// to the client any more; otherwise they stay, and tell others that it is dead.
func (c *client) leave(forget bool) {
	c.closeFiles()
	<-c.stopped
	if forget {
		c.removeFiles(c.id)
	}
}

func (c *client) closeFiles() {
	c.inheriting.Lock()
	defer c.inheriting.Unlock()
	for _, f := range []*os.File{c.wakeups, c.watched, c.heirs, c.alive} {
		if f != nil {
			f.Close()
		}
	}
}

// removeFiles removes the files of a client that is dead. It keeps them locked meanwhile, so that no client that
// comes now takes them for its own. The file that tells that there is a client goes last: if this process dies
// before, the next sweep finds the rest.
func (c *client) removeFiles(id string) {
	folder := c.database.folder
	f, err := folder.open(id+aliveSuffix, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	isDead := flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil
	if !isDead || !folder.isAt(f, id+aliveSuffix) || folder.isLocked(id+heirsSuffix) {
		return
	}
	for _, suffix := range []string{wakeSuffix, watchSuffix, heirsSuffix, aliveSuffix} {
		folder.remove(id + suffix)
	}
}

// lockFile makes a file and locks it. A peer that saw the file before it was locked may have taken it for that of a
// dead client and removed it; then it is made again.
func (f *folder) lockFile(name string) (*os.File, error) {
	for {
		file, err := f.create(name)
		if err != nil {
			return nil, err
		}
		if err := flock(file, syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if f.isAt(file, name) {
			return file, f.share.with(file, f.share.mode)
		}
		file.Close()
	}
}

// shareFIFO makes a FIFO that all clients can open.
func (f *folder) shareFIFO(name string) (*os.File, error) {
	file, err := f.makeFIFO(name)
	if err != nil {
		return nil, err
	}
	return file, f.share.with(file, f.share.mode)
}

// isUnlocked reports whether certainly nobody has locked a file.
func (f *folder) isUnlocked(name string) bool {
	known, err := f.look(name)
	return known && err == nil
}

// isLocked reports whether somebody has certainly locked a file.
func (f *folder) isLocked(name string) bool {
	known, err := f.look(name)
	return known && errors.Is(err, syscall.EWOULDBLOCK)
}

// look tries to lock a file. The lock is a shared one, so that those who look do not get in each other's way. If the
// file is missing or is no client's, known is false.
func (f *folder) look(name string) (known bool, err error) {
	file, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	return true, flock(file, syscall.LOCK_SH|syscall.LOCK_NB)
}

// flock calls flock(2) through the file's SyscallConn: File.Fd would make the file blocking for those who read it, and
// nothing would keep it from being closed meanwhile.
func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(fd), how)
		}
	})
	return errors.Join(failed, err)
}
