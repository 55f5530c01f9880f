package sqltest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// use makes requests that are about nothing, so that the driver sweeps.
func use(t *testing.T, d *drivertest.Facade) {
	t.Helper()
	for range 200 {
		if _, err := d.Queue(t.Context(), "nothing"); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever became of its claims, nothing of a lock stays for ever: claims that nobody asks about, what is remembered of
// claims that ended, tokens of locks that were not used for long.
func TestNothingStays(t *testing.T) {
	path := newFile(t)
	db := openSQL(t, path)
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, sqllock.SQLite, &sqllock.Options{Keep: time.Nanosecond}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i := range 50 {
		c := mutex(fmt.Sprint(i))
		c.TTL = 100 * time.Millisecond
		request(t, d, c, true)
		switch i % 3 {
		case 0:
			d.Release(t.Context(), c)
		case 1:
			d.Break(t.Context(), c.Name, c.ID)
		}
	}
	for deadline := time.Now().Add(patience); ; {
		use(t, d)
		left := count(t, path, "SELECT (SELECT count(*) FROM holdfast_claims)"+
			" + (SELECT count(*) FROM holdfast_ends) + (SELECT count(*) FROM holdfast_fences)")
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d rows are left", left)
		}
	}
}

// hoard leaves behind a client that is dead, and had this many claims.
func hoard(t *testing.T, path string, many int) {
	t.Helper()
	d, err := drivertest.Open(t.Context(), fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	var claims []driver.Claim
	for i := range many {
		claims = append(claims, mutex(fmt.Sprint(i)))
	}
	if _, err := d.Renew(t.Context(), claims); err != nil { // in one transaction, though they are new
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// What died with thousands of claims is swept bit by bit: in one piece, that would keep everybody from renewing.
func TestSweepOfAHoard(t *testing.T) {
	path := filepath.Join(memoryFolder(t), "locks.db")
	const many = 1000
	hoard(t, path, many)
	left := func() int { return int(count(t, path, "SELECT count(*) FROM holdfast_claims")) }
	d := open(t, path)
	if ended := many - left(); ended > many/2 {
		t.Errorf("one sweep ended %d claims of a dead client", ended)
	}
	request(t, d, mutex("999"), true)
	for deadline := time.Now().Add(patience); left() > 1 && time.Now().Before(deadline); {
		use(t, d)
	}
	if left() > 1 || filesOf(t, path) != 1 {
		t.Errorf("%d claims and the files of %d clients are left, want one of each", left(), filesOf(t, path))
	}
}

// Sweeping takes nothing that is needed: the tokens of locks in use, and claims that live.
func TestSweepSpares(t *testing.T) {
	path := newFile(t)
	opts := &sqllock.Options{Keep: time.Nanosecond}
	d, err := drivertest.Wrap(sqllock.New(t.Context(), openSQL(t, path), sqllock.SQLite, opts))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	other := open(t, path)
	ahead := time.Now().Add(time.Hour).UnixMicro()
	c := mutex("m")
	request(t, d, c, true)
	change(t, path, "UPDATE holdfast_fences SET token = ?", ahead)
	if err := d.Release(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	request(t, other, mutex("theirs"), true)
	use(t, d)
	if st := request(t, d, mutex("m"), true); st.Token <= uint64(ahead) {
		t.Errorf("token %d after %d", st.Token, ahead)
	}
	request(t, d, mutex("theirs"), false)
	if filesOf(t, path) != 2 {
		t.Error("the files of a living client were removed")
	}
}
