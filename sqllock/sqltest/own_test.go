package sqltest

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A database that the caller opened stays open, and keeps what else is in it.
func TestOwnDatabase(t *testing.T) {
	path := newFile(t)
	db := openSQL(t, path)
	const theirs = "PRAGMA user_version = 77; CREATE TABLE orders (id); INSERT INTO orders VALUES (1)"
	if _, err := db.Exec(theirs); err != nil {
		t.Fatal(err)
	}
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, nil))
	if err != nil {
		t.Fatal(err)
	}
	request(t, d, mutex("m"), true)
	request(t, open(t, path), mutex("m"), false)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	var orders, version int
	const look = "SELECT count(*), (SELECT user_version FROM pragma_user_version) FROM orders"
	err = db.QueryRow(look).Scan(&orders, &version)
	if err != nil || orders != 1 || version != 77 {
		t.Errorf("%d orders, version %d, %v", orders, version, err)
	}
}

// In memory nobody else would see the locks.
func TestInMemory(t *testing.T) {
	if d, err := drivertest.Wrap(sqllock.New(t.Context(), openSQL(t, ":memory:"), sqllock.SQLite, nil)); err == nil {
		d.Close()
		t.Error("a database in memory is accepted")
	}
}
