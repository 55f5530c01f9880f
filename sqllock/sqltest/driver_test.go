package sqltest

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/opened"

	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "modernc.org/sqlite"
)

// TestDriver gives short claims a second, because all rows share one file, in which one writes at a time.
func TestDriver(t *testing.T) {
	effort.Raced(t)
	path := filepath.Join(memoryFolder(t), "locks.db")
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return open(t, path) },
		TTL:  time.Second,
		Long: 2 * time.Minute, // each claim is a transaction, and the race detector makes SQLite slow
	})
}

// memoryFolder is a folder that waits for no disk, where there is one: the suite makes thousands of transactions, and
// is not about power failures.
func memoryFolder(t testing.TB) string {
	folder, err := os.MkdirTemp("/dev/shm", "holdfast")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// patience ends what hangs: nothing takes so long, also where others keep the machine busy.
const patience = 2 * time.Minute

// longTTL is for claims whose TTL must not be what ends them.
const longTTL = 10 * time.Minute

func newFile(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "locks.db")
}

// fileURL is the URL of a file.
func fileURL(path string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path}).String()
}

// open opens a new client of a file, which is closed with the test.
func open(t testing.TB, path string) *drivertest.Facade {
	t.Helper()
	return opened.Driver(t, fileURL(path))
}

// openSQL opens the database as any other program would.
func openSQL(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// change runs a statement on the database behind the driver's back.
func change(t testing.TB, path, statement string, args ...any) {
	t.Helper()
	if _, err := openSQL(t, path).Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

// count asks the database for a number.
func count(t testing.TB, path, query string, args ...any) (n int64) {
	t.Helper()
	if err := openSQL(t, path).QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// mutex returns a claim that waits for a lock of one.
func mutex(name string) driver.Claim { return claimed.Mutex(name, longTTL) }

// reader and writer return claims that share a lock, and that do not.
func reader(name string) driver.Claim { return units(name, 1) }
func writer(name string) driver.Claim { return units(name, driver.All) }

func units(name string, weight int64) driver.Claim {
	c := mutex(name)
	c.Weight, c.Limit = weight, driver.All
	return c
}

var request = claimed.Ask

// awaitGrant waits until c is granted, and returns how long that took.
func awaitGrant(t testing.TB, d *drivertest.Facade, c driver.Claim) (took time.Duration) {
	t.Helper()
	began := time.Now()
	if _, err := await(d, c); err != nil {
		t.Fatalf("waiting for %s: %v", c.ID, err)
	}
	return time.Since(began)
}

// awaiting is await in a goroutine of its own, and sends how that ended.
func awaiting(d *drivertest.Facade, c driver.Claim) <-chan error {
	granted := make(chan error, 1)
	go func() {
		_, err := await(d, c)
		granted <- err
	}()
	return granted
}

// await waits until c is granted, as a caller does: by Wait, and by asking again when Wait says so.
func await(d *drivertest.Facade, c driver.Claim) (driver.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		st, err := d.Wait(ctx, c)
		if err == nil && st == (driver.Status{}) {
			st, err = d.Request(ctx, c)
		}
		if err != nil || st.Granted {
			return st, err
		}
	}
}
