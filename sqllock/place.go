package sqllock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
)

// A place is a database file with what its clients keep beside it.
type place struct {
	path    string
	info    fs.FileInfo
	clients string // the folder of their files
}

func newPlace(path string) (*place, error) {
	path, err := filepath.EvalSymlinks(path) // all clients must find the same folder
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	p := &place{path: path, info: info, clients: path + ".clients"}
	if err := os.Mkdir(p.clients, p.folderMode()); err == nil {
		return p, p.share(p.clients, p.folderMode())
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a folder for the clients: %w", err)
	}
	return p, nil
}

// check refuses to go on when the file is not the one that was opened. Others use the new one, and would be granted what
// is held in the old.
func (p *place) check() error {
	info, err := os.Stat(p.path)
	switch {
	case err == nil && os.SameFile(info, p.info):
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or replaced while it was in use; restart the programs that use it", driver.ErrRefused, p.path)
	default:
		return err
	}
}

// folderMode lets those enter a folder who may read the database.
func (p *place) folderMode() fs.FileMode {
	mode := p.info.Mode().Perm()
	return mode | mode&0o444>>2
}

// share gives a file the mode, and as far as that is allowed the group, that lets all use it who use the database.
func (p *place) share(path string, mode fs.FileMode) error {
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	shareGroup(path, p.info)
	return nil
}
