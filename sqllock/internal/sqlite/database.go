package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
)

// A database is a file with what SQLite and its clients keep beside it.
type database struct {
	path   string
	place  string // of the folder in which its clients find each other
	share  share
	files  map[string]fs.FileInfo // the database and, once it is in use, what SQLite keeps beside it
	folder *folder                // of the clients; nil until it is known
}

func openDatabase(path string) (*database, error) {
	path, err := filepath.EvalSymlinks(path) // all clients must find the same folder
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := map[string]fs.FileInfo{path: info}
	return &database{path: path, place: path + ".clients", share: shareOf(info), files: files}, nil
}

// noteSideFiles notes what SQLite keeps beside the database. These files stay for as long as we use it.
func (db *database) noteSideFiles() {
	for _, end := range sideFiles {
		if info, err := os.Stat(db.path + end); err == nil {
			db.files[db.path+end] = info
		}
	}
}

// check refuses to go on when the files are not those that were opened: others use the new files, and would be
// granted what is held in the old ones.
func (db *database) check() error {
	for path, opened := range db.files {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !os.SameFile(info, opened) {
			return fmt.Errorf("%w: %s was removed or replaced while it was in use; restart the programs that use it",
				driver.ErrRefused, path)
		}
	}
	return nil
}
