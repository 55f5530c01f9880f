package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// HasTable fails the test unless a page has this table instead of any other that begins with the same cells as head
// does; or writes it there. A table ends with an empty line. how is the command that writes it.
func HasTable(t testing.TB, page, head, table string, write bool, how string) {
	t.Helper()
	path := filepath.Join(Root, page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "\n"+head)
	_, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s has no table that begins with %s", page, head)
	}
	want := before + "\n" + table + "\n" + after
	switch {
	case want == string(text):
	case write:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another table; write it with: %s\n%s", page, how, table)
	}
}
