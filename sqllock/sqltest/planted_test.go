package sqltest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// A victim is a file that is nobody's business, beside what others can plant where clients look.
type victim struct {
	path string
	info os.FileInfo
	text string
}

func newVictim(t *testing.T, folder string) *victim {
	t.Helper()
	v := &victim{path: filepath.Join(folder, "victim"), text: "secret"}
	if err := os.WriteFile(v.path, []byte(v.text), 0o600); err != nil {
		t.Fatal(err)
	}
	v.info, _ = os.Stat(v.path)
	return v
}

// isIntact fails when somebody has opened the file to others, given it away or written to it.
func (v *victim) isIntact(t *testing.T) {
	t.Helper()
	info, err := os.Stat(v.path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(v.path)
	if err != nil || string(text) != v.text {
		t.Errorf("it was overwritten: %.80q, %v", text, err)
	}
	if info.Mode() != v.info.Mode() || ownerOf(info) != ownerOf(v.info) {
		t.Errorf("it is %v of %s now, and was %v of %s", info.Mode(), ownerOf(info), v.info.Mode(), ownerOf(v.info))
	}
}

func ownerOf(info os.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)
}

// plantings are ways to plant another's file.
var plantings = map[string]func(victim, path string) error{
	"a link":        os.Symlink,
	"a second name": os.Link,
}

// What others plant in the folder before clients come leads to no other file, though they share the folder.
func TestPlantedTurn(t *testing.T) {
	for name, plant := range plantings {
		t.Run(name, func(t *testing.T) {
			path := sharedFile(t, 0o666)
			open(t, path)
			v := newVictim(t, filepath.Dir(path))
			turn := path + ".clients/turn"
			os.Remove(turn)
			if err := plant(v.path, turn); err != nil {
				t.Fatal(err)
			}
			request(t, open(t, path), mutex("m"), true)
			v.isIntact(t)
		})
	}
}

// A file that others plant in the place of a client's FIFO leads to no other file, and holds nobody up: a claim is
// granted when its time has come.
func TestPlantedFiles(t *testing.T) {
	plantings := map[string]func(victim, path string) error{
		"a link":        plantings["a link"],
		"a second name": plantings["a second name"],
		"a folder":      func(_, path string) error { return os.Mkdir(path, 0o777) },
	}
	for name, plant := range plantings {
		t.Run(name, func(t *testing.T) {
			path := sharedFile(t, 0o666)
			one, two := open(t, path), open(t, path)
			v := newVictim(t, filepath.Dir(path))
			held, next := mutex("m"), mutex("m")
			request(t, one, held, true)
			request(t, two, next, false)
			files, err := filepath.Glob(path + ".clients/*.fifo")
			if err != nil || len(files) != 2 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				os.Remove(file)
				if err := plant(v.path, file); err != nil {
					t.Fatal(err)
				}
			}
			request(t, open(t, path), mutex("m"), false) // it looks at those ahead of it
			if err := one.Release(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			awaitGrant(t, two, next)
			v.isIntact(t)
		})
	}
}

// A client whose name was written into the database by another way is a name, and no path.
func TestPlantedName(t *testing.T) {
	path := sharedFile(t, 0o666)
	d := open(t, path)
	v := newVictim(t, filepath.Dir(path))
	if err := os.Rename(v.path, v.path+".fifo"); err != nil {
		t.Fatal(err)
	}
	v.path += ".fifo"
	c := mutex("m")
	request(t, d, c, true)
	change(t, path, "UPDATE holdfast_claims SET client = '../victim', detached = 1")
	if err := d.Break(t.Context(), "m", c.ID); err != nil {
		t.Fatal(err)
	}
	v.isIntact(t)
}

// sharedFile returns the path of a database with a mode, in a folder in which all who use it may make files.
func sharedFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	folder, err := os.MkdirTemp(os.TempDir(), "holdfast") // that of the test is in one that others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	path := filepath.Join(folder, "locks.db")
	chmod(t, folder, 0o777&(mode|mode>>1|mode<<1|0o700)|0o711)
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, mode)
	return path
}

// chmod sets a mode whatever the umask is.
func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// SQLite keeps files of its own beside the database. What is planted there leads to no other file either.
func TestPlantedBesideDatabase(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		for name, plant := range plantings {
			t.Run(name+" as "+suffix, func(t *testing.T) {
				path := sharedFile(t, 0o666)
				v := newVictim(t, filepath.Dir(path))
				if err := plant(v.path, path+suffix); err != nil {
					t.Fatal(err)
				}
				if d, err := drivertest.Open(t.Context(), fileURL(path)); err == nil {
					d.Request(t.Context(), mutex("m"))
					d.Close()
				}
				v.isIntact(t)
			})
		}
	}
}
