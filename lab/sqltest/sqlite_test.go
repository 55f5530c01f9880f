package sqltest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"

	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "modernc.org/sqlite"
)

// openAt opens a new client of a database file.
func openAt(t testing.TB, path string) driver.Driver {
	t.Helper()
	d, err := driver.Open(context.Background(), "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func TestDriver(t *testing.T) {
	path := filepath.Join(memoryDir(t), "locks.db")
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openAt(t, path) },
		TTL:  time.Second, // all rows share one file, in which one writes at a time
	})
}

// memoryDir is a folder that waits for no disk where there is one: the suite makes thousands of transactions, and is
// not about power failures.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "holdfast")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
