//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqllock

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Each client has three files in the folder of the place, named after it.
const (
	aliveSuffix = ".alive" // locked while the client lives
	lineSuffix  = ".line"  // a FIFO that the client keeps open for writing: readers see its end when the client is gone
	bellSuffix  = ".bell"  // a FIFO at which it listens
)

// A client is a driver as others see it.
type client struct {
	id     string
	place  *place
	alive  *os.File
	line   *os.File
	bell   *os.File
	lines  lines
	silent chan struct{} // closed when listen has returned
}

// join makes a client known. heard is called, by one goroutine that ends with leave, with the ID of each claim to which
// something happened.
func join(p *place, heard func(id string)) (_ *client, err error) {
	c := &client{id: newID(), place: p, silent: make(chan struct{})}
	c.lines.path = func(id string) string { return c.file(id, lineSuffix) }
	defer func() {
		if err != nil {
			c.closeFiles()
			err = fmt.Errorf("make the files of a client: %w", err)
		}
	}()
	if c.alive, err = lockFile(p, c.file(c.id, aliveSuffix)); err != nil {
		return nil, err
	}
	if c.line, err = makeFIFO(p, c.file(c.id, lineSuffix)); err != nil {
		return nil, err
	}
	if c.bell, err = makeFIFO(p, c.file(c.id, bellSuffix)); err != nil {
		return nil, err
	}
	go c.listen(heard)
	return c, nil
}

func (c *client) file(id, suffix string) string { return filepath.Join(c.place.clients, id+suffix) }

// listen ends when the bell is closed.
func (c *client) listen(heard func(id string)) {
	defer close(c.silent)
	for rings := bufio.NewScanner(c.bell); rings.Scan(); {
		heard(rings.Text())
	}
}

// files are what a process has to keep open so that the client lives.
func (c *client) files() []*os.File { return []*os.File{c.alive, c.line} }

// sees reports whether a client lives. It does while that cannot be told, as when somebody has removed its file: then
// only deadlines end its claims.
func (c *client) sees(id string) bool {
	return id == c.id || !isUnlocked(c.file(id, aliveSuffix))
}

// ring tells another client, if it listens. A ring that is lost costs a poll.
func (c *client) ring(other, id string) {
	fd, err := syscall.Open(c.file(other, bellSuffix), syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	syscall.Write(fd, []byte(id+"\n")) // it is short, so it is written in one piece or not at all
}

// others returns the clients that have files, but for this one.
func (c *client) others() []string {
	return slices.DeleteFunc(clientsIn(c.place), func(id string) bool { return id == c.id })
}

// inUse reports whether it is certain that a client lives in a place, apart from one, which may be nil.
func inUse(p *place, but *client) bool {
	return slices.ContainsFunc(clientsIn(p), func(id string) bool {
		return (but == nil || id != but.id) && isLocked(filepath.Join(p.clients, id+aliveSuffix))
	})
}

// clientsIn returns the clients that have files.
func clientsIn(p *place) []string {
	files, err := os.ReadDir(p.clients)
	if err != nil {
		return nil
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), aliveSuffix); ok {
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
	for _, f := range []*os.File{c.bell, c.line, c.alive} {
		if f != nil {
			f.Close()
		}
	}
}

// bury removes the files of a client that is dead. It keeps them locked meanwhile, so that nobody takes them for their own.
func (c *client) bury(id string) {
	path := c.file(id, aliveSuffix)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil || !isAt(f, path) {
		return
	}
	for _, suffix := range []string{bellSuffix, lineSuffix, aliveSuffix} {
		os.Remove(c.file(id, suffix))
	}
}

// lockFile makes a file and locks it. Somebody who saw it before it was locked may have taken it for that of a dead
// client and removed it; then it is made again.
func lockFile(p *place, path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f, syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, err
		}
		if isAt(f, path) {
			return f, p.share(path, p.info.Mode().Perm())
		}
		f.Close()
	}
}

// makeFIFO makes a FIFO and opens it for both ends, so that it has no end while this client lives.
func makeFIFO(p *place, path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &fs.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	if err := p.share(path, p.info.Mode().Perm()); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
}

// isUnlocked reports whether it is certain that nobody has locked a file. Looking takes a shared lock, so that those who
// look do not see each other.
func isUnlocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// isLocked reports whether it is certain that somebody has locked a file.
func isLocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
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

// isAt reports whether a path leads to an open file.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}

// shareGroup gives a file the group of another, if that is allowed.
func shareGroup(path string, like fs.FileInfo) {
	if stat, ok := like.Sys().(*syscall.Stat_t); ok {
		os.Chown(path, -1, int(stat.Gid)) // then only those of our group share it
	}
}
