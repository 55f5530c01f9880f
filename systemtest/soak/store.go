package soak

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/opened"
)

// A Store is what ages: a server, or a file, with locks.
type Store interface {
	Name() string
	Open(t testing.TB) *drivertest.Facade // a new client, which is closed with the test
	Size(t testing.TB) int64              // in bytes, of all that is kept
	Mishaps() []Mishap
}

// A Mishap is something that happens to a store in use.
type Mishap struct {
	Name string

	// Moves says that the store is elsewhere after it, so that clients are opened anew.
	Moves bool

	// Do lets it happen. A part of the day passes before end is called.
	Do func(t testing.TB) (end func())
}

// over is the end of a mishap that is over at once.
func over() {}

// folderSize is the size of the files in a folder.
func folderSize(t testing.TB, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // it was removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// open opens a client of a URL.
func open(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	return opened.DriverBesideFaults(t, url)
}
