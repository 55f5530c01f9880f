//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Each client has these files in the folder of the place, named after it.
const (
	aliveSuffix = ".alive" // locked while its process lives
	heirsSuffix = ".heirs" // made when it is to be inherited, and locked while a process lives that inherited it
	lineSuffix  = ".line"  // a FIFO that the client keeps open for writing: readers see its end when the client is gone
	bellSuffix  = ".bell"  // a FIFO at which it listens
)

// A client is a driver as others see it.
type client struct {
	id     string
	place  *place
	alive  *os.File
	heirs  *os.File // nil until somebody asks for what children inherit
	line   *os.File
	bell   *os.File
	lines  lines
	silent chan struct{} // closed when listen has returned

	inheriting sync.Mutex // guards heirs
}

// join makes a client known. heard is called, by one goroutine that ends with leave, with the ID of each claim to which
// something happened.
func join(p *place, heard func(id string)) (_ *client, err error) {
	c := &client{id: newID(), place: p, silent: make(chan struct{})}
	c.lines.folder = p.folder
	defer func() {
		if err != nil {
			c.closeFiles()
			err = fmt.Errorf("make the files of a client: %w", err)
		}
	}()
	if c.alive, err = p.folder.lockFile(c.id + aliveSuffix); err != nil {
		return nil, err
	}
	if c.line, err = p.folder.shareFIFO(c.id + lineSuffix); err != nil {
		return nil, err
	}
	if c.bell, err = p.folder.shareFIFO(c.id + bellSuffix); err != nil {
		return nil, err
	}
	go c.listen(heard)
	return c, nil
}

// listen ends when the bell is closed.
func (c *client) listen(heard func(id string)) {
	defer close(c.silent)
	for rings := bufio.NewScanner(c.bell); rings.Scan(); {
		heard(rings.Text())
	}
}

// files are what a child has to keep open so that the client lives on in it. The lock that it inherits is not that of this
// process: a child can drop it, since those who share an open file share its lock.
func (c *client) files() []*os.File {
	c.inheriting.Lock()
	defer c.inheriting.Unlock()
	if c.heirs == nil {
		heirs, err := c.place.folder.lockFile(c.id + heirsSuffix)
		if err != nil {
			return nil // then the claims end with this process
		}
		c.heirs = heirs
	}
	return []*os.File{c.heirs, c.line}
}

// sees reports whether a client lives. It does while that cannot be told, as when somebody has removed its file: then
// only deadlines end its claims.
func (c *client) sees(id string) bool {
	if id == c.id {
		return true
	}
	f := c.place.folder
	return !f.isUnlocked(id+aliveSuffix) || f.exists(id+heirsSuffix) && !f.isUnlocked(id+heirsSuffix)
}

// ring tells another client, if it listens. A ring that is lost costs a poll.
func (c *client) ring(other, id string) {
	bell, err := c.place.folder.open(other+bellSuffix, os.O_WRONLY, fs.ModeNamedPipe)
	if err != nil {
		return
	}
	defer bell.Close()
	conn, err := bell.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Write(func(fd uintptr) (done bool) {
		syscall.Write(int(fd), []byte(id+"\n")) // it is short, so it is written in one piece or not at all
		return true
	})
}

// others returns the clients that have files, but for this one.
func (c *client) others() []string {
	return slices.DeleteFunc(clientsIn(c.place), func(id string) bool { return id == c.id })
}

// inUse reports whether it is certain that a client lives in a place, apart from one, which may be nil.
func inUse(p *place, but *client) bool {
	return slices.ContainsFunc(clientsIn(p), func(id string) bool {
		return (but == nil || id != but.id) && (p.folder.isLocked(id+aliveSuffix) || p.folder.isLocked(id+heirsSuffix))
	})
}

// clientsIn returns the clients that have files.
func clientsIn(p *place) []string {
	var ids []string
	for _, name := range p.folder.list() {
		if id, ok := strings.CutSuffix(name, aliveSuffix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// leave ends the client, unless a child keeps its files open. They are removed when nothing refers to them any more;
// otherwise they tell others that it is dead.
func (c *client) leave(forget bool) {
	c.closeFiles()
	<-c.silent
	if forget {
		c.bury(c.id)
	}
}

func (c *client) closeFiles() {
	c.inheriting.Lock()
	defer c.inheriting.Unlock()
	for _, f := range []*os.File{c.bell, c.line, c.heirs, c.alive} {
		if f != nil {
			f.Close()
		}
	}
}

// bury removes the files of a client that is dead. It keeps them locked meanwhile, so that nobody takes them for their own.
func (c *client) bury(id string) {
	folder := c.place.folder
	f, err := folder.open(id+aliveSuffix, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil || !folder.isAt(f, id+aliveSuffix) || folder.isLocked(id+heirsSuffix) {
		return
	}
	for _, suffix := range []string{bellSuffix, lineSuffix, heirsSuffix, aliveSuffix} {
		folder.remove(id + suffix)
	}
}

// lockFile makes a file and locks it. Somebody who saw it before it was locked may have taken it for that of a dead
// client and removed it; then it is made again.
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

// isUnlocked reports whether it is certain that nobody has locked a file. Looking takes a shared lock, so that those who
// look do not see each other.
func (f *folder) isUnlocked(name string) bool {
	known, err := f.look(name)
	return known && err == nil
}

// isLocked reports whether it is certain that somebody has locked a file.
func (f *folder) isLocked(name string) bool {
	known, err := f.look(name)
	return known && errors.Is(err, syscall.EWOULDBLOCK)
}

// look tries to share the lock of a file. What is no file of a client is not known.
func (f *folder) look(name string) (known bool, err error) {
	file, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	return true, flock(file, syscall.LOCK_SH|syscall.LOCK_NB)
}

// flock does so without taking the file from those who read it, and keeps it from being closed meanwhile.
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
