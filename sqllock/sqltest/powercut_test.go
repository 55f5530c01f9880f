//go:build linux

package sqltest

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A disk remembers of each file of SQLite what it held when it was last synced: that is what a power failure leaves,
// with some of what was written since, or none of it.
type disk struct {
	mu     sync.Mutex
	files  map[uintptr]diskFile // that SQLite has open, by its handle
	synced map[string][]byte    // by path
}

type diskFile struct {
	path    string
	methods *sqlite3.Tsqlite3_io_methods // of SQLite's own file system
}

var theDisk = disk{files: make(map[uintptr]diskFile), synced: make(map[string][]byte)}

// powerCut is the name of SQLite's file system on theDisk. It is SQLite's own, but for what theDisk has to know.
const powerCut = "powercut"

// at is what an address of SQLite refers to.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// call is the function at an address of SQLite, and address the other way round.
func call[F any](f uintptr) F    { return *(*F)(unsafe.Pointer(&f)) }
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// These are functions of SQLite's file system.
type (
	xOpen     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	xRead     = func(tls *libc.TLS, file, to uintptr, many int32, from int64) int32
	xFileSize = func(tls *libc.TLS, file, size uintptr) int32
	xSync     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// allocate returns memory of SQLite's, which stays where it is. The race detector takes Go's for misused there.
func allocate[T any](tls *libc.TLS, value T) *T {
	copied := at[T](sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(value))))
	*copied = value
	return copied
}

var (
	systemFiles  *sqlite3.Tsqlite3_vfs
	ourMethods   = make(map[uintptr]*sqlite3.Tsqlite3_io_methods) // by SQLite's own
	registerDisk = sync.OnceValue(func() error {
		tls := libc.NewTLS()
		defer tls.Close()
		systemFiles = at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
		ours := allocate(tls, *systemFiles)
		name, err := libc.CString(powerCut)
		if err != nil {
			return err
		}
		ours.FzName, ours.FxOpen, ours.FpNext = name, address(openOnDisk), 0
		if sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(ours)), 0) != sqlite3.SQLITE_OK {
			return errors.New("SQLite takes no file system")
		}
		return nil
	})
)

func openOnDisk(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	result := call[xOpen](systemFiles.FxOpen)(tls, vfs, name, file, flags, outFlags)
	if handle := at[sqlite3.Tsqlite3_file](file); result == sqlite3.SQLITE_OK && name != 0 {
		handle.FpMethods = theDisk.opened(tls, file, libc.GoString(name), handle.FpMethods)
	}
	return result
}

// opened notes a file, and returns the methods that SQLite is to use on it. What is in it is on the disk, unless it was
// open before.
func (d *disk) opened(tls *libc.TLS, file uintptr, path string, methods uintptr) uintptr {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := diskFile{path, at[sqlite3.Tsqlite3_io_methods](methods)}
	d.files[file] = f
	if content, result := f.read(tls, file); d.synced[path] == nil && result == sqlite3.SQLITE_OK {
		d.synced[path] = content
	}
	ours := ourMethods[methods]
	if ours == nil {
		ours = allocate(tls, *f.methods)
		ours.FxSync = address(syncOnDisk)
		ourMethods[methods] = ours
	}
	return uintptr(unsafe.Pointer(ours))
}

func syncOnDisk(tls *libc.TLS, file uintptr, flags int32) int32 {
	theDisk.mu.Lock()
	defer theDisk.mu.Unlock()
	f := theDisk.files[file]
	if result := call[xSync](f.methods.FxSync)(tls, file, flags); result != sqlite3.SQLITE_OK {
		return result
	}
	content, result := f.read(tls, file)
	if result == sqlite3.SQLITE_OK {
		theDisk.synced[f.path] = content
	}
	return result
}

// read reads all of a file, by SQLite's handle: to close another one is to lose SQLite's locks.
func (f diskFile) read(tls *libc.TLS, file uintptr) (content []byte, result int32) {
	size := allocate(tls, int64(0))
	to := uintptr(unsafe.Pointer(size))
	defer sqlite3.Xsqlite3_free(tls, to)
	if result := call[xFileSize](f.methods.FxFileSize)(tls, file, to); result != sqlite3.SQLITE_OK || *size == 0 {
		return []byte{}, result
	}
	many := int32(*size)
	to = sqlite3.Xsqlite3_malloc(tls, many)
	defer sqlite3.Xsqlite3_free(tls, to)
	result = call[xRead](f.methods.FxRead)(tls, file, to, many, 0)
	return bytes.Clone(libc.GoBytes(to, int(many))), result
}

// A failure is how much of what was not synced a power failure leaves.
type failure struct {
	name string
	kept float64 // of the sectors
}

var failures = []failure{{"nothing that was not synced is left", 0}, {"some of it is", 0.5}, {"most of it is", 0.95}}

// sector is the size of what a disk writes as a whole.
const sector = 512

// cut copies a database as a power failure leaves it. The machine that comes up afterwards is in another boot.
func (f failure) cut(t *testing.T, path string) (left string) {
	t.Helper()
	left = newFile(t)
	theDisk.mu.Lock()
	for _, end := range []string{"", "-wal", "-journal"} {
		written, err := os.ReadFile(path + end)
		synced, isThere := theDisk.synced[path+end]
		if errors.Is(err, fs.ErrNotExist) || !isThere {
			continue
		}
		if err := errors.Join(err, os.WriteFile(left+end, f.mix(synced, written), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	theDisk.mu.Unlock()
	change(t, left, "UPDATE holdfast_store SET boot = 'the one before'")
	return left
}

// mix is what was synced, with some of the sectors that were written since.
func (f failure) mix(synced, written []byte) []byte {
	mixed := bytes.Clone(synced)
	for from := 0; from < len(written); from += sector {
		to := min(from+sector, len(written))
		if to <= len(synced) && bytes.Equal(written[from:to], synced[from:to]) || rand.Float64() >= f.kept {
			continue
		}
		if more := to - len(mixed); more > 0 {
			mixed = append(mixed, make([]byte, more)...)
		}
		copy(mixed[from:], written[from:to])
	}
	return mixed
}

// openOnPower opens a file whose power can be cut.
func openOnPower(t *testing.T, path string) *drivertest.Facade {
	t.Helper()
	d := drivertest.NewFacade(driverOnPower(t, path))
	t.Cleanup(func() { d.Close() })
	return d
}

// driverOnPower is openOnPower for who does not subscribe.
func driverOnPower(t *testing.T, path string) driver.Driver {
	t.Helper()
	if err := registerDisk(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?vfs="+powerCut)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	d, err := sqllock.New(t.Context(), db, sqllock.SQLite, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
