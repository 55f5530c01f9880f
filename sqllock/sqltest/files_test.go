package sqltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

// filesOf counts the clients that have files beside a database.
func filesOf(t testing.TB, path string) int {
	t.Helper()
	files, err := os.ReadDir(path + ".clients")
	if err != nil {
		t.Fatal(err)
	}
	clients := make(map[string]bool)
	for _, f := range files {
		if id, _, ok := strings.Cut(f.Name(), "."); ok {
			clients[id] = true
		}
	}
	return len(clients)
}

// Any path that the system allows works.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{
		"a b", "a?b=c", "50%", "%41", "a#b", "ü☃🔒", "a;b", "a'b\"c", "a&b", "a+b", ":memory:", "-a", "a\nb", "a\\b",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			one, two := open(t, path), open(t, path)
			request(t, one, mutex("m"), true)
			request(t, two, mutex("m"), false)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("the file has another name: %v", err)
			}
		})
	}
}

// A relative path is of the folder in which the program runs when it opens it.
func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	d, err := drivertest.Open(t.Context(), "file:my%20locks.db")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	request(t, d, mutex("m"), true)
	if _, err := os.Stat("my locks.db"); err != nil {
		t.Error(err)
	}
}

// Clients that come by way of a link meet the others.
func TestLinkedPath(t *testing.T) {
	path := newFile(t)
	one := open(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	request(t, one, mutex("m"), true)
	request(t, open(t, link), mutex("m"), false)
	if filesOf(t, path) != 2 {
		t.Error("the clients do not meet in one folder")
	}
}

// A link that leads to no file yet leads to one that is as private as any that is made.
func TestLinkToNoFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "locks.db")
	for _, link := range []struct{ name, to string }{{"second.db", "first.db"}, {"first.db", path}} {
		if err := os.Symlink(link.to, filepath.Join(folder, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	request(t, open(t, filepath.Join(folder, "second.db")), mutex("m"), true)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a file with mode 0600", info, err)
	}
	if filesOf(t, path) != 1 {
		t.Error("the client is in no folder beside the file")
	}
}

// A file with two names has two logs: who uses it by the second one is refused, and is not granted what is held by the
// first.
func TestSecondNameOfFile(t *testing.T) {
	path, second := newFile(t), newFile(t)
	request(t, open(t, path), mutex("m"), true)
	if err := os.Link(path, second); err != nil {
		t.Skip(err)
	}
	played.Start(t, "refuse", second).Says(t, "refused")
}

// What cannot be opened is refused with what to do about it.
func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ url, want string }{
		"no folder":         {fileURL(filepath.Join(folder, "none", "locks.db")), "create it first"},
		"a folder":          {fileURL(folder), "name a file in it"},
		"not a database":    {fileURL(text), "not a database"},
		"no path":           {"file:", "name a file"},
		"host":              {"file://server/locks.db", "on this machine"},
		"fragment":          {"file:" + folder + "/a#b", "%23"},
		"escape":            {"file:a%zz", "%25"},
		"unknown parameter": {"file:" + folder + "/a?prefix=b", "takes: none"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := drivertest.Open(t.Context(), row.url)
			if err == nil {
				d.Close()
				t.Fatal("it opens")
			}
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %q, which does not say %q", err, row.want)
			}
		})
	}
}

// The file and what is beside it are private to the user who made it; what is beside a file that is shared, is shared.
func TestModes(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o600, 0o660, 0o666} {
		t.Run(mode.String(), func(t *testing.T) {
			path := newFile(t)
			if mode != 0 {
				os.WriteFile(path, nil, mode)
				os.Chmod(path, mode)
			} else {
				mode = 0o600
			}
			request(t, open(t, path), mutex("m"), true)
			want := map[string]os.FileMode{path: mode, path + "-wal": mode, path + ".clients": mode | mode&0o444>>2}
			beside, err := filepath.Glob(path + ".clients/*")
			if err != nil || len(beside) != 1 {
				t.Fatal(beside, err)
			}
			for _, f := range beside {
				want[f] = mode
			}
			for name, mode := range want {
				if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v; want mode %v", name, info.Mode(), err, mode)
				}
			}
		})
	}
}

// When the file is replaced, or what SQLite keeps beside it, others are granted what is held in the old one; who has
// that open must not go on.
func TestReplacedFile(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string){
		"removed":  func(t *testing.T, path string) { os.Remove(path) },
		"replaced": func(t *testing.T, path string) { os.Remove(path); open(t, path) },
		"log":      func(t *testing.T, path string) { os.Remove(path + "-wal") },
		"index":    func(t *testing.T, path string) { os.Remove(path + "-shm") },
		"both":     func(t *testing.T, path string) { os.Remove(path + "-wal"); os.Remove(path + "-shm") },
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			d := open(t, path)
			c := mutex("m")
			request(t, d, c, true)
			replace(t, path)
			if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("a renewal: %v, want ErrRefused", err)
			}
			if _, err := d.Queue(t.Context(), "m"); !errors.Is(err, driver.ErrRefused) {
				t.Errorf("Queue: %v, want ErrRefused", err)
			}
		})
	}
}

// Whoever removes the files of a living client gives nobody its lock: then its claims live until their TTL.
func TestRemovedClientFiles(t *testing.T) {
	path := newFile(t)
	one, two := open(t, path), open(t, path)
	request(t, one, mutex("m"), true)
	files, _ := filepath.Glob(path + ".clients/*")
	for _, f := range files {
		os.Remove(f)
	}
	request(t, two, mutex("m"), false)
	request(t, open(t, path), mutex("m"), false)
}

// A file on a local disk, written as the driver sets it up, is safe.
func TestCheck(t *testing.T) {
	findings, err := driver.Check(context.Background(), open(t, newFile(t)), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Level != driver.Fine || f.Fact == "" {
			t.Errorf("a fresh file: %+v", f)
		}
	}
	if len(findings) < 3 {
		t.Errorf("%d findings", len(findings))
	}
}
