package interop

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The judge must see what would be wrong with a lock that does not lock.
func TestJudge(t *testing.T) {
	first, second := Section{New(t), "first"}, Section{"", "second"}
	second.Folder = first.Folder
	if err := os.WriteFile(filepath.Join(first.Folder, "first.reads"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(map[string][]string)
	for _, writes := range []bool{true, false} { // while the first reads
		line, err := second.Enter(writes)
		if err != nil {
			t.Fatal(err)
		}
		said[second.Name] = append(said[second.Name], line)
	}
	said[first.Name] = []string{"wrote", "read"} // which the count does not know of

	got := second.judge(said, 1, "wrote", "read")
	slices.Sort(got)
	want := []string{"2 wrote one after the other, and the count is 1, <nil>", "second wrote beside first.reads"}
	if !slices.Equal(got, want) {
		t.Errorf("the judge says %q, want %q", got, want)
	}
	if got := second.judge(said, 2, "read"); !slices.Contains(got, "second read 1 times, want at least 2") {
		t.Errorf("the judge says %q, and nothing of who was there too seldom", got)
	}
}
