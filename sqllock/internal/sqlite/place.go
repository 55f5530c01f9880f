package sqlite

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
	path   string
	files  map[string]fs.FileInfo // the database and, once it is in use, what SQLite keeps beside it
	folder *folder                // of the clients
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
	folder, err := openFolder(path+".clients", info)
	if err != nil {
		return nil, err
	}
	return &place{path: path, files: map[string]fs.FileInfo{path: info}, folder: folder}, nil
}

// keepBesides notes what SQLite keeps beside the database that we use: it stays for as long as we do.
func (p *place) keepBesides() {
	for _, end := range besides {
		if info, err := os.Stat(p.path + end); err == nil {
			p.files[p.path+end] = info
		}
	}
}

// check refuses to go on when the files are not those that were opened. Others use the new ones, and would be granted what
// is held in the old.
func (p *place) check() error {
	for path, opened := range p.files {
		info, err := os.Stat(path)
		switch {
		case err == nil && os.SameFile(info, opened):
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s was removed or replaced while it was in use; restart the programs that use it",
				driver.ErrRefused, path)
		default:
			return err
		}
	}
	return nil
}
