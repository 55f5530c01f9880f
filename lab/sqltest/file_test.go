package sqltest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/format"
	"github.com/holdfast-go/holdfast/sqllock"
)

// Claims of another boot are dead, whatever the clock shows.
func TestAnotherBoot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	d := openAt(t, path)
	old, err := d.Request(t.Context(), claim("old"))
	if err != nil || !old.Granted {
		t.Fatal(old, err)
	}
	rewrite(t, path, "UPDATE holdfast_claims SET boot = 'before'")
	fresh, err := d.Request(t.Context(), claim("fresh"))
	if err != nil || !fresh.Granted || fresh.Token <= old.Token {
		t.Errorf("after a reboot: %+v, %v; the token before was %d", fresh, err, old.Token)
	}
	stale := claim("old")
	stale.Token = old.Token
	if err := d.Release(t.Context(), stale); !errors.Is(err, driver.ErrGone) {
		t.Errorf("release of the claim of another boot: %v", err)
	}
}

// A file in a newer format is refused, with what to do; by those who have it open too.
func TestNewerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	d := openAt(t, path)
	rewrite(t, path, "PRAGMA user_version = 2")
	_, running := d.Request(t.Context(), claim("running"))
	_, opening := driver.Open(t.Context(), "file:"+path)
	for what, err := range map[string]error{"running": running, "opening": opening} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format 2") || !strings.Contains(err.Error(), "update the program") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Programs of two versions share a file while they are updated: the newer one reads what the older one wrote, and what
// only the newer one understands the older one refuses.
func TestTwoVersionsSideBySide(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "locks.db")
	old := openAt(t, shared)
	held, err := old.Request(t.Context(), claim("old"))
	if err != nil {
		t.Fatal(err)
	}

	format.SQLite++
	newer := openAt(t, shared)
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	openAt(t, fresh)
	format.SQLite--

	queue, err := newer.Queue(t.Context(), "contested")
	if err != nil || len(queue) != 1 || queue[0].Token != held.Token {
		t.Errorf("the newer program reads %v, %v", queue, err)
	}
	if st, err := newer.Request(t.Context(), claim("new")); err != nil || st.Granted {
		t.Errorf("the newer program is answered %+v, %v beside the older one's claim", st, err)
	}
	if _, err := driver.Open(t.Context(), "file:"+fresh); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("the older program opens the newer one's file: %v", err)
	}
}

// rewrite changes the file behind the driver's back.
func rewrite(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain.db", "with space.db", "per%25cent.db", "quest%3Fion.db", "ha%23sh.db", "ünïcode 🔒.db", "a'b\"c.db"} {
		path := filepath.Join(dir, strings.NewReplacer("%25", "%", "%3F", "?", "%23", "#").Replace(name))
		d := openAt(t, filepath.Join(dir, name))
		if _, err := d.Request(t.Context(), claim("c")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: the file is elsewhere: %v", name, err)
		}
	}
}

func TestBadURLs(t *testing.T) {
	dir := t.TempDir()
	for url, says := range map[string]string{
		"file:":                             "write file:/path/to/locks.db",
		"file://host/locks.db":              "write file:/path/to/locks.db",
		"file:" + dir:                       "is a folder",
		"file:" + dir + "/none/locks.db":    "make it first",
		"file:" + dir + "/locks.db?mode=ro": "unknown parameter",
	} {
		if _, err := driver.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error that says %q", url, err, says)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("this is no database, but long enough to look like something"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Open(t.Context(), "file:"+dir+"/text"); err == nil {
		t.Error("a file that is no database was opened")
	}
	memory, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if _, err := sqllock.New(t.Context(), memory); err == nil || !strings.Contains(err.Error(), "in memory") {
		t.Errorf("a database in memory: %v", err)
	}
}

// What a driver leaves behind when it is closed: its claims end with it, and no file of its client stays.
func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	a, b := openAt(t, path), openAt(t, path)
	if _, err := a.Request(t.Context(), claim("a")); err != nil {
		t.Fatal(err)
	}
	detached := claim("d")
	detached.Name, detached.Detached = "detached", true
	if _, err := a.Request(t.Context(), detached); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"contested": 0, "detached": 1} {
		if queue, err := b.Queue(t.Context(), name); err != nil || len(queue) != want {
			t.Errorf("%d claims on %s, want %d: %v", len(queue), name, want, err)
		}
	}
	if _, err := a.Request(t.Context(), claim("late")); err == nil {
		t.Error("a closed driver answers")
	}
	files, err := os.ReadDir(path + "-clients")
	if err != nil || len(files) != 1 {
		t.Errorf("%d files of clients, want one: %v", len(files), err)
	}
}

// People may bring their own database; it stays open, and one connection is enough.
func TestOwnDatabase(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := sqllock.New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := d.Request(t.Context(), claim("c")); err != nil || !st.Granted {
		t.Error(st, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("the database was closed too: %v", err)
	}
}

// Rings may be lost: whoever is next in line asks now and then.
func TestLostRings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	a, b := openAt(t, path), openAt(t, path)
	held, err := a.Request(t.Context(), claim("a"))
	if err != nil {
		t.Fatal(err)
	}
	waiting := claim("b")
	waiting.TTL = 2 * time.Second
	if _, err := b.Request(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	bells, err := filepath.Glob(path + "-clients/*.bell")
	if err != nil || len(bells) == 0 {
		t.Fatalf("bells: %v, %v", bells, err)
	}
	for _, bell := range bells {
		if err := os.Remove(bell); err != nil {
			t.Fatal(err)
		}
	}
	mine := claim("a")
	mine.Token = held.Token
	if err := a.Release(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	await(t, b, waiting)
}

// Tokens grow even when the wall clock went back behind the last one.
func TestTokensGrowWhenTheClockGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	d := openAt(t, path)
	last := uint64(1) << 53
	rewrite(t, path, "INSERT INTO holdfast_fences (name, token) VALUES (CAST('contested' AS BLOB), 9007199254740992)")
	for i, id := range []string{"a", "b", "c"} {
		c := claim(id)
		st, err := d.Request(t.Context(), c)
		if err != nil || st.Token <= last {
			t.Fatalf("grant %d has token %d after %d, %v", i, st.Token, last, err)
		}
		last, c.Token = st.Token, st.Token
		if err := d.Release(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}
