package main

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// hang is what the opening of "hangs:" waits for, whatever becomes of its context.
var hang chan struct{}

func init() {
	driver.Register("hangs", func(context.Context, *url.URL) (driver.Driver, error) {
		<-hang
		return nil, context.Canceled
	})
}

// Who types does not wait for a backend that does not answer, whatever it makes of a context that ends.
func TestNamesOfBackendThatHangs(t *testing.T) {
	defer bubble.Alone()()
	components = append(components, component{"no_hangs", []string{"hangs"}})
	inBuild["no_hangs"] = true
	defer func() { components = components[:len(components)-1] }()
	synctest.Test(t, func(t *testing.T) {
		hang = make(chan struct{})
		defer close(hang)
		begin := time.Now()
		names := (&backendFlags{url: "hangs://host"}).namesFrom("")
		if took := time.Since(begin); len(names) > 0 || took > time.Second {
			t.Errorf("%q after %v; want nothing, within a second", names, took)
		}
	})
}

// Completing opens no file that Holdfast has not made in this place: that would make tables in the database of another
// program, and a folder beside it. One that Holdfast has made is opened, by a link too.
func TestNamesMakeNothing(t *testing.T) {
	if !inBuild["no_sqlite"] {
		t.Skip("this build has no files")
	}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	holder := hold(t, in("locks.db"), "job")
	executed(t, in("another.db"), "CREATE TABLE theirs (a)")
	executed(t, in("locks.db"), "VACUUM INTO '"+in("copy.db")+"'")
	if err := os.Symlink("locks.db", in("link.db")); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, folder)
	for _, row := range []struct {
		file string
		want []string
	}{
		{"another.db", nil},
		{"copy.db", nil},
		{"locks.db", []string{"job"}},
		{"link.db", []string{"job"}},
	} {
		if got := (&backendFlags{url: fileURL(in(row.file))}).namesFrom(""); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.file, got, row.want)
		}
	}
	if after := namesIn(t, folder); !slices.Equal(after, before) {
		t.Errorf("the folder has %q now, had %q", after, before)
	}
	if got := tables(t, in("another.db")); !slices.Equal(got, []string{"theirs"}) {
		t.Errorf("the database of another program has tables %q", got)
	}
	if err := holder.close(t.Context()); err != nil {
		t.Error(err)
	}
}

// hold holds a lock of a file.
func hold(t *testing.T, path, name string) *store {
	s, err := (&backendFlags{url: fileURL(path)}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Mutex(name).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// executed runs SQL on a file, and makes it if need be.
func executed(t *testing.T, path, statement string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func tables(t *testing.T, path string) (names []string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func namesIn(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
