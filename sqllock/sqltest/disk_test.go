//go:build linux

package sqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// smallDisk has the test run in a process of its own, where a folder is on a disk of one megabyte that it may fill
// and mount anew. It returns that folder there, and nothing here, when the test is over.
func smallDisk(t *testing.T) (folder string) {
	t.Helper()
	const variable = "HOLDFAST_TEST_SMALL_DISK"
	if folder := os.Getenv(variable); folder != "" {
		return folder
	}
	const script = `mount -t tmpfs -o size=1m none "$0" && exec "$@"`
	folder = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, folder, self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+folder)
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && !strings.Contains(string(out), "--- FAIL"):
		t.Skipf("no disk can be mounted here: %v, %s", err, out)
	case err != nil:
		t.Errorf("%s", out)
	}
	return ""
}

// fill writes until the disk is full, and returns what makes room again.
func fill(t *testing.T, folder string) (makeRoom func()) {
	t.Helper()
	path := filepath.Join(folder, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// When the disk is full nobody is granted what is held, and nobody is told that asking again is of no use: the same
// request works when there is room. What is there stays sound.
func TestDiskFull(t *testing.T) {
	folder := smallDisk(t)
	if folder == "" {
		return
	}
	path := filepath.Join(folder, "locks.db")
	d, held := open(t, path), mutex("held")
	held.Token = request(t, d, held, true).Token
	makeRoom := fill(t, folder)

	c, failed := mutex("m"), error(nil)
	for range 100 { // the log may have room
		c = mutex("m" + c.ID)
		if _, failed = d.Request(t.Context(), c); failed != nil {
			break
		}
	}
	if failed == nil || errors.Is(failed, driver.ErrRefused) || errors.Is(failed, driver.ErrGone) {
		t.Fatalf("a request: %v; want an error after which it is asked again", failed)
	}
	if !strings.Contains(failed.Error(), "full") {
		t.Errorf("the error is %q, which does not say why", failed)
	}
	if other, err := drivertest.Open(t.Context(), fileURL(path)); err == nil {
		if st, err := other.Request(t.Context(), mutex("held")); err == nil && st.Granted {
			t.Error("what is held was granted")
		}
		other.Close()
	} else if errors.Is(err, driver.ErrRefused) {
		t.Errorf("Open: %v; want an error after which it is tried again", err)
	}

	makeRoom()
	request(t, d, c, true)
	request(t, d, held, true)
	request(t, open(t, path), mutex("held"), false)
	var sound string
	if err := openSQL(t, path).QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("the database is %q, %v", sound, err)
	}
}

// Where the write-ahead log itself has filled the disk, its room is used again, although SQLite moves the log into
// the database by itself only after a commit that it had room for.
func TestLogFillsTheDisk(t *testing.T) {
	folder := smallDisk(t)
	if folder == "" {
		return
	}
	path := filepath.Join(folder, "locks.db")
	d := open(t, path)
	db := openSQL(t, path)
	if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	reader, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, statement := range []string{"BEGIN", "SELECT count(*) FROM sqlite_schema"} {
		if _, err := reader.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const most = 10000 // requests, which would take ten times the disk
	var full error
	for n := 0; full == nil && n < most; n++ {
		c := mutex(fmt.Sprint("m", n))
		if _, full = d.Request(t.Context(), c); full == nil {
			full = d.Release(t.Context(), c)
		}
	}
	if full == nil || !strings.Contains(full.Error(), "full") {
		t.Fatalf("%v; want an error that says that the disk is full", full)
	}
	if _, err := reader.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	c := mutex("afterwards")
	if _, err := d.Request(t.Context(), c); err != nil { // this one may make the room
		request(t, d, c, true)
	}
}

// A client that is stopped as it looks at something holds up those who write. If they went on, the log would grow
// until it filled the disk, and what grows the database could not be moved out of it any more, whoever went on then.
func TestStoppedReader(t *testing.T) {
	folder := smallDisk(t)
	if folder == "" {
		return
	}
	path := filepath.Join(folder, "locks.db")
	d, disk := onSlowDisk(t, path)
	other := open(t, path)
	disk.looks.Store(true)
	looked := make(chan error, 1)
	go func() {
		_, err := d.Value(t.Context(), "m")
		looked <- err
	}()
	goOn := <-disk.commits

	var err error
	for n := 0; err == nil; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = other.Request(ctx, mutex(fmt.Sprint("m", n)))
		cancel()
	}
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, driver.ErrUnsent) {
		t.Errorf("beside a client that is stopped as it looks: %v; want the end of the context, and ErrUnsent", err)
	}
	disk.slow.Store(false)
	close(goOn)
	if err := <-looked; err != nil {
		t.Error(err)
	}
	request(t, other, mutex("afterwards"), true)
}

// On a disk that takes no writes the file is refused, with the reason.
func TestReadOnlyDisk(t *testing.T) {
	folder := smallDisk(t)
	if folder == "" {
		return
	}
	path := filepath.Join(folder, "locks.db")
	d, err := drivertest.Open(t.Context(), fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Request(t.Context(), mutex("m")); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{path, filepath.Join(folder, "new.db")} {
		d, err := drivertest.Open(t.Context(), fileURL(path))
		if err == nil {
			d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: %v; want an error that says it is read-only", path, err)
		}
	}
}
