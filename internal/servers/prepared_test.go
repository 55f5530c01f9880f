package servers_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// preparing is what programs say while they fill the folder of a server, by the name of the kind.
var preparing = map[string]string{"mariadb": "Installing MariaDB", "postgres": "post-bootstrap initialization"}

// The first servers of a kind, also when two begin at once, keep what they begin with. Later ones begin with a copy
// of that, without anything that was written since; and where it is damaged, they are prepared again.
func TestPreparedOnce(t *testing.T) {
	effort.Long(t)
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			begin := func() *servers.Server {
				s := db.start(t)
				shell(t, s, db.shell, "CREATE TABLE stock (n int)")
				return s
			}
			var first sync.WaitGroup
			for range 2 {
				first.Go(func() { begin() })
			}
			first.Wait()
			if prepared(t, db.name, begin()) {
				t.Error("what two have kept was made a third time")
			}

			kept, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "holdfast", "prepared", "*"))
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept are %q, %v; want one archive", kept, err)
			}
			if err := os.Truncate(kept[0], 1<<20); err != nil {
				t.Fatal(err)
			}
			if !prepared(t, db.name, begin()) {
				t.Error("it begins with what was damaged")
			}
			if prepared(t, db.name, begin()) {
				t.Error("what was damaged was not replaced")
			}
		})
	}
}

// Where nothing can be kept, servers start.
func TestNothingKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	for _, db := range databases {
		if s := db.start(t); !prepared(t, db.name, s) {
			t.Errorf("%s begins with something that was kept nowhere", db.name)
		}
	}
}

// prepared reports whether programs filled the folder of a server.
func prepared(t *testing.T, name string, s *servers.Server) bool {
	t.Helper()
	return strings.Contains(s.Log(t), preparing[name])
}
