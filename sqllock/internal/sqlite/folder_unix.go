//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A folder holds the files of the clients of a database. Users who share the database share the folder too, and may
// put into it what they like. Therefore no link in it is ever followed, nothing is written to a file that is not a
// client's, and mode and owner are set only on a file that was just made, by its descriptor.
type folder struct {
	root  *os.Root
	share share
}

// openFolder opens the folder at a path, and makes it if there is none.
func openFolder(path string, database fs.FileInfo) (*folder, error) {
	o := opening{path: path, share: shareOf(database)}
	f, err := o.open()
	for begin := time.Now(); o.isSettling(err) && time.Since(begin) < settling; {
		time.Sleep(settling / 100)
		f, err = o.open()
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: %w; if the database was not shared when this folder was made, "+
			"remove the folder while no program uses the locks", driver.ErrRefused, err)
	}
	return f, err
}

// An opening is the attempt to open a folder.
type opening struct {
	path  string
	share share
}

// settling is how long it may take until a folder that another user has just made is open to us.
const settling = time.Second

func (o *opening) isSettling(err error) bool {
	return errors.Is(err, fs.ErrPermission) && o.share.isOfMany()
}

// open makes the folder. If there is one, open takes it, provided that everybody who may have made it may use the
// database too.
func (o *opening) open() (*folder, error) {
	made := os.Mkdir(o.path, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return nil, fmt.Errorf("make a folder for the clients: %w", made)
	}
	root, err := o.enter()
	if err != nil {
		return nil, err
	}
	f := &folder{root: root, share: o.share}
	if made == nil {
		err = f.shareSelf()
	} else {
		err = o.vet(root)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// enter opens the folder, but not a link to one. It compares what it has opened with what it saw at first: somebody
// may have put a link there in between.
func (o *opening) enter() (*os.Root, error) {
	there, err := os.Lstat(o.path)
	switch {
	case err != nil:
		return nil, err
	case !there.IsDir():
		return nil, o.refuse("is not a folder; remove it")
	}
	root, err := os.OpenRoot(o.path)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(there, opened) {
		return nil, errors.Join(o.refuse("was replaced just now"), root.Close())
	}
	return root, nil
}

// vet refuses a folder that was or may be written by users who may not write the database: they could end the claims of
// others.
func (o *opening) vet(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	around, err := os.Stat(filepath.Dir(o.path))
	if err != nil {
		return err
	}
	isShared := info.Mode().Perm()&0o022 != 0
	switch {
	case !o.share.covers(info):
		return o.refuse("is open to users who may not write the database (mode %04o);"+
			" remove it while no program uses the locks", info.Mode().Perm())
	case isShared && info.Mode()&fs.ModeSticky == 0:
		return o.refuse("is shared, and lets each of its users remove the files of the others; chmod +t it")
	case o.share.trusts(info), isShared && o.share.covers(around):
		return o.share.close(root, info)
	default:
		return o.refuse("belongs to another user (%d) than the database; look at what is in it, and remove it."+
			" Keep a database that users share in a folder that nobody else may write", uidOf(info))
	}
}

func (o *opening) refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", driver.ErrRefused, o.path, fmt.Sprintf(format, args...))
}

// shareSelf lets those who share the database use a folder that was just made. They may add files to it, and remove
// only their own: that is what the sticky bit is for.
func (f *folder) shareSelf() error {
	self, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return f.share.with(self, f.share.mode|f.share.mode>>1|fs.ModeSticky)
}

// list returns the names of the files in the folder.
func (f *folder) list() []string {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// create makes a file, which must not be there yet, and opens it for reading and writing. It is private until it is
// shared.
func (f *folder) create(name string) (*os.File, error) {
	return f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// makeFIFO makes a FIFO and opens both ends of it, so that those who read it see no end while it is open.
func (f *folder) makeFIFO(name string) (*os.File, error) {
	if err := f.mkfifo(name); err != nil {
		return nil, &fs.PathError{Op: "mkfifo", Path: filepath.Join(f.root.Name(), name), Err: err}
	}
	file, err := f.open(name, os.O_RDWR, fs.ModeNamedPipe)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || uidOf(info) != os.Geteuid() {
		return nil, errors.Join(f.notOurs(name), file.Close())
	}
	return file, nil
}

// open opens a file of a type, without waiting for anybody. It refuses a file that has other names too, because that
// may be the file of somebody else.
func (f *folder) open(name string, flag int, kind fs.FileMode) (*os.File, error) {
	file, err := f.root.OpenFile(name, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info.Mode().Type() != kind || !isSingle(info) || !f.isAt(file, name) {
		return nil, errors.Join(f.notOurs(name), file.Close())
	}
	return file, nil
}

func (f *folder) notOurs(name string) error {
	path := filepath.Join(f.root.Name(), name)
	return fmt.Errorf("%w: %s was not made by a client; remove it", driver.ErrRefused, path)
}

// isAt reports whether an open file has this name, and the name is not a link.
func (f *folder) isAt(file *os.File, name string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := f.root.Lstat(name)
	return err == nil && os.SameFile(opened, there)
}

// exists reports whether a file may be there.
func (f *folder) exists(name string) bool {
	_, err := f.root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// remove removes a file if that is allowed. Files of other users are theirs to remove.
func (f *folder) remove(name string) { _ = f.root.Remove(name) }

func (f *folder) close() error { return f.root.Close() }

// isReadOnly reports whether a folder is on a file system that nobody can write, whatever its mode says.
func isReadOnly(path string) bool {
	const writing = 2 // W_OK of access(2)
	return errors.Is(syscall.Access(path, writing), syscall.EROFS)
}
