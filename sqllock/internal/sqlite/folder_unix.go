//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/holdfast-go/holdfast/driver"
)

// A folder holds the FIFOs of the clients of a database. Users who share the database share the folder too, and may
// put into it what they like. Therefore no link leads out of it, nothing is written to what is not a FIFO, and mode
// and owner are set only of what was just made, by its descriptor.
type folder struct {
	root  *os.Root
	self  *os.File
	share share
}

// makeFolder makes the folder at a path. If there is one it opens that. It is called in a transaction, so that
// nobody else finds a folder that is not shared yet.
func makeFolder(path string, s share) (f *folder, err error) {
	made := os.Mkdir(path, 0o700)
	switch {
	case made == nil:
		if f, err = enter(path, s); err == nil { // those who share it may add files, and remove only their own
			err = s.with(f.self, s.mode|s.mode>>1|fs.ModeSticky)
		}
	case errors.Is(made, fs.ErrExist):
		f, err = openFolder(path, s)
	default:
		err = fmt.Errorf("make a folder for the clients: %w", made)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: %w; if the database was not shared when this folder was made, "+
			"remove the folder while no program uses the locks", driver.ErrRefused, err)
	}
	return f, err
}

// openFolder opens a folder, provided that everybody who may have made it may use the database too.
func openFolder(path string, s share) (*folder, error) {
	f, err := enter(path, s)
	if err != nil {
		return nil, err
	}
	if err := f.vet(path); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// enter opens the folder, but not a link to one. It compares what it has opened with what it saw at first: somebody
// may have put a link there in between.
func enter(path string, s share) (*folder, error) {
	there, err := os.Lstat(path)
	if err == nil && !there.IsDir() {
		return nil, refuseFolder(path, "is not a folder; remove it")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &folder{root: root, self: self, share: s}
	if opened, err := self.Stat(); err != nil || !os.SameFile(there, opened) {
		return nil, errors.Join(refuseFolder(path, "was replaced just now"), f.close())
	}
	return f, nil
}

// vet refuses a folder that was or may be written by users who may not write the database, since they could end the
// claims of others; and one that they may open, since they could take the flock that lets processes go in turn.
func (f *folder) vet(path string) error {
	info, err := f.self.Stat()
	if err != nil {
		return err
	}
	around, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	isShared := info.Mode().Perm()&0o022 != 0
	switch {
	case !f.share.covers(info, fs.ModePerm):
		return refuseFolder(path, "is open to users who may not write the database (mode %04o);"+
			" remove it while no program uses the locks", info.Mode().Perm())
	case isShared && info.Mode()&fs.ModeSticky == 0:
		return refuseFolder(path, "is shared, and lets each of its users remove the files of the others; chmod +t it")
	case f.share.trusts(info), isShared && f.share.covers(around, 0o222):
		return nil
	default:
		return refuseFolder(path, "belongs to another user (%d) than the database; look at what is in it, and remove"+
			" it. Keep a database that users share in a folder that nobody else may write", uidOf(info))
	}
}

func refuseFolder(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", driver.ErrRefused, path, fmt.Sprintf(format, args...))
}

// fifoSuffix is that of a client's FIFO, whose name begins with the client's ID.
const fifoSuffix = ".fifo"

// makeFIFO makes the FIFO of a client, and opens both ends of it. It is private until it is shared.
func (f *folder) makeFIFO(id string) (*os.File, error) {
	path := filepath.Join(f.root.Name(), id+fifoSuffix)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &fs.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	fifo, err := f.openFIFO(id, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	info, err := fifo.Stat()
	if err == nil && uidOf(info) != os.Geteuid() {
		err = notOurs(path)
	}
	if err == nil {
		err = f.share.with(fifo, f.share.mode)
	}
	if err != nil {
		return nil, errors.Join(err, fifo.Close())
	}
	return fifo, nil
}

// openFIFO opens the FIFO of a client, without waiting for anybody. It refuses what has other names too, because
// that may be somebody else's.
func (f *folder) openFIFO(id string, flag int) (*os.File, error) {
	fifo, err := f.root.OpenFile(id+fifoSuffix, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := fifo.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe || !isSingle(info) {
		return nil, errors.Join(notOurs(fifo.Name()), fifo.Close())
	}
	return fifo, nil
}

func notOurs(path string) error {
	return fmt.Errorf("%w: %s was not made by a client; remove it", driver.ErrRefused, path)
}

// reach opens the FIFO of a client for writing, as the system lets nobody do while nobody has it open for reading.
func (f *folder) reach(id string) error {
	fifo, err := f.openFIFO(id, os.O_WRONLY)
	if err == nil {
		fifo.Close()
	}
	return err
}

// isDead reports whether a client is certainly dead.
func (f *folder) isDead(id string) bool { return errors.Is(f.reach(id), syscall.ENXIO) }

// inUse reports whether a client certainly lives, apart from one.
func (f *folder) inUse(but string) bool {
	return slices.ContainsFunc(f.clients(), func(id string) bool { return id != but && f.reach(id) == nil })
}

// clients returns those that have a FIFO.
func (f *folder) clients() (ids []string) {
	entries, _ := fs.ReadDir(f.root.FS(), ".")
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), fifoSuffix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// remove removes the FIFO of a client if that is allowed. Those of other users are theirs to remove.
func (f *folder) remove(id string) { _ = f.root.Remove(id + fifoSuffix) }

func (f *folder) close() error { return errors.Join(f.self.Close(), f.root.Close()) }

// A share is who may use a database: those who may write it. Whoever may only read it cannot take part.
type share struct {
	uid, gid int
	mode     fs.FileMode // of a file that all of them may read and write
}

func shareOf(database fs.FileInfo) share {
	written := database.Mode().Perm() & 0o222
	return share{uid: uidOf(database), gid: gidOf(database), mode: 0o600 | written | written<<1}
}

// with gives a file that this process has just made to those who share, as far as that is allowed. It takes the open
// file and no name, which could be that of another file by now.
func (s share) with(f *os.File, mode fs.FileMode) error {
	uid := -1
	if os.Geteuid() == 0 {
		uid = s.uid // or the owner of a private database could not use it any more
	}
	_ = f.Chown(uid, s.gid) // if it is not allowed, the mode makes up for it
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if gidOf(info) != s.gid { // then the group that the file has gets the same rights as everybody
		mode = mode&^0o070 | mode&0o007<<3
	}
	return f.Chmod(mode)
}

// covers reports whether all who have one of these rights to a folder, besides its owner, are among those who share.
func (s share) covers(folder fs.FileInfo, rights fs.FileMode) bool {
	given := folder.Mode().Perm() & rights
	byAll := s.mode&0o002 != 0
	byGroup := byAll || s.mode&0o020 != 0 && gidOf(folder) == s.gid
	return (byAll || given&0o007 == 0) && (byGroup || given&0o070 == 0)
}

// trusts reports whether a file belongs to a user who could do everything anyway: us, the owner of the database, or
// root.
func (s share) trusts(info fs.FileInfo) bool {
	uid := uidOf(info)
	return uid == os.Geteuid() || uid == s.uid || uid == 0
}

func uidOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
func gidOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Gid) }

// isSingle reports whether a file has only one name.
func isSingle(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Nlink == 1 }
