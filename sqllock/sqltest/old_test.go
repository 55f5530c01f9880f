package sqltest

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// However many clients have died and left files, one transaction looks at few of them: others wait for it.
// Reaping takes them all.
func TestCrowdOfDeadClients(t *testing.T) {
	const crowd = 1000
	path := newFile(t)
	open(t, path).Close()
	for range crowd {
		if err := syscall.Mkfifo(filepath.Join(path+".clients", rand.Text()+".fifo"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, path) // which sweeps
	if left := filesOf(t, path); left < crowd/2 || left > crowd {
		t.Errorf("%d of %d files are left after one sweep; want it to remove some, and by far not all", left, crowd)
	}
	if _, err := driver.Reap(t.Context(), d, time.Hour); err != nil || filesOf(t, path) != 1 {
		t.Errorf("%d files are left, %v; want our own", filesOf(t, path), err)
	}
}

// Locks that are held for months do not keep the tokens of others from being forgotten, though sweeping looks at few.
func TestHeldForMonths(t *testing.T) {
	const held = 3000
	path := newFile(t)
	opts := &sqllock.Options{Keep: time.Hour}
	d, err := drivertest.Wrap(sqllock.New(t.Context(), openSQL(t, path), sqllock.SQLite, opts))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	change(t, path, fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2 * %d)
		INSERT INTO holdfast_fences (name, token) SELECT CAST('name ' || i AS BLOB), i FROM n`, held))
	change(t, path, `INSERT INTO holdfast_claims
		(name, token, id, weight, units, ttl, deadline, since, client, detached, granted, owner, value)
		SELECT name, token, 'an ID', 1, 1, 1000000000, 9000000000000000000, 1, '', 1, 1, '', ''
		FROM holdfast_fences WHERE token <= ?`, held)
	for deadline := time.Now().Add(patience); ; {
		use(t, d)
		left := count(t, path, "SELECT count(*) FROM holdfast_fences")
		if left == held {
			break
		}
		if left < held || time.Now().After(deadline) {
			t.Fatalf("%d tokens are left; want those of the %d locks that are held", left, held)
		}
	}
}

// A file that was cut short is not taken for one in which nothing is held. SQLite takes one of a single byte for an
// empty one, as of which there is nothing left.
func TestHalfWrittenFile(t *testing.T) {
	path := newFile(t)
	d, err := drivertest.Open(t.Context(), fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	c := mutex("m")
	c.Detached = true
	request(t, d, c, true)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 2; size < len(whole); size = size*2 + 1 {
		half := newFile(t)
		if err := os.WriteFile(half, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := drivertest.Open(t.Context(), fileURL(half))
		if err != nil {
			continue
		}
		if st, err := d.Request(t.Context(), mutex("m")); err == nil && st.Granted {
			t.Errorf("cut to %d of %d bytes: what is held was granted", size, len(whole))
		}
		d.Close()
	}
}
