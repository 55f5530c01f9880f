package soak

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	_ "github.com/holdfast-go/holdfast/etcdlock" // the scheme etcd
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/zklock" // the scheme zk
)

// A file is an SQLite database.
type file struct{ path string }

// SQLite makes a file.
func SQLite(t testing.TB) Store { return &file{filepath.Join(t.TempDir(), "locks.db")} }

func (f *file) Name() string { return "SQLite" }

func (f *file) Open(t testing.TB) *drivertest.Facade { return open(t, "file:"+f.path) }

func (f *file) Size(t testing.TB) int64 { return folderSize(t, filepath.Dir(f.path)) }

func (f *file) Mishaps() []Mishap {
	return []Mishap{{Name: "dump and restore", Moves: true, Do: f.restore}}
}

// restore goes on in a copy of the file, which nobody writes to meanwhile.
func (f *file) restore(t testing.TB) func() {
	from, to := f.path, filepath.Join(t.TempDir(), "locks.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(from+suffix, to+suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	f.path = to
	return over
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}

// An ensemble is one server of a store that has a quorum elsewhere.
type ensemble struct {
	server       *servers.Server
	name, scheme string
}

// Etcd starts an etcd server.
func Etcd(t testing.TB) Store { return &ensemble{servers.Etcd(t), "etcd", "etcd"} }

// ZooKeeper starts a ZooKeeper server.
func ZooKeeper(t testing.TB) Store { return &ensemble{servers.ZooKeeper(t), "ZooKeeper", "zk"} }

func (e *ensemble) Name() string { return e.name }

func (e *ensemble) Open(t testing.TB) *drivertest.Facade {
	return open(t, e.scheme+"://"+e.server.Addr)
}

func (e *ensemble) Size(t testing.TB) int64 { return folderSize(t, e.server.Dir) }

func (e *ensemble) Mishaps() []Mishap {
	return []Mishap{{Name: "crash and restart", Do: func(t testing.TB) func() {
		e.server.Kill(t)
		e.server.Restart(t)
		return over
	}}}
}
