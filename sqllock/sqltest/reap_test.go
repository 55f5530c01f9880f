package sqltest

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap removes what is old enough, says what that was, and spares what is in use.
func TestReap(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	used := mutex("used")
	request(t, d, used, true)
	for _, name := range []string{"b", "a"} {
		c := mutex(name)
		request(t, d, c, true)
		if err := d.Release(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	brief := mutex("dead")
	brief.TTL, brief.Detached = d.Traits().MinTTL, true
	request(t, d, brief, true)

	if removed, err := driver.Reap(t.Context(), d, time.Hour); err != nil || len(removed) > 0 {
		t.Errorf("removed what is younger than an hour: %v, %v", removed, err)
	}
	want := []driver.Leftover{
		{Kind: "expired claim", Name: "dead"},
		{Kind: "last token", Name: "a"},
		{Kind: "last token", Name: "b"},
		{Kind: "last token", Name: "dead"},
	}
	var all []driver.Leftover
	for deadline := time.Now().Add(patience); len(all) < len(want) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // after 64 transactions the client sweeps in passing, and does not tell
		removed, err := driver.Reap(t.Context(), d, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, removed...)
	}
	slices.SortFunc(all, byKindAndName)
	if !slices.Equal(all, want) {
		t.Errorf("removed %v, want %v", all, want)
	}
	if err := d.Release(t.Context(), brief); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the release of what expired: %v", err)
	}
	request(t, d, mutex("used"), false)
	if left := count(t, path, "SELECT count(*) FROM holdfast_fences"); left != 1 {
		t.Errorf("%d fences are left, want that of the lock in use", left)
	}
}

// Reap removes a client that died with thousands of claims completely, though not at once.
func TestReapOfAHoard(t *testing.T) {
	path := filepath.Join(memoryFolder(t), "locks.db")
	d := open(t, path)
	hoard(t, path, 600)
	want := []driver.Leftover{{Kind: "file of a client that is gone"}}
	if removed, err := driver.Reap(t.Context(), d, time.Hour); err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v, %v; want %v", removed, err, want)
	}
	if left := count(t, path, "SELECT count(*) FROM holdfast_claims"); left != 0 {
		t.Errorf("%d claims are left", left)
	}
}

func byKindAndName(a, b driver.Leftover) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
