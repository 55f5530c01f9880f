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
	path   string
	info   fs.FileInfo
	folder *folder // of the clients
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
	return &place{path: path, info: info, folder: folder}, nil
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
