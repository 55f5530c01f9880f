package zklock_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A hall is a folder that processes enter while they hold a lock, whatever they are written in. It knows nothing of locks:
//
//   - Whoever enters makes a file, NAME.writes or NAME.reads, and looks for those of others, then and before it leaves.
//     So of two that are inside at once, at least one sees the other.
//   - A writer reads a number from the file count, waits for a moment, and writes the next one.
//   - Whoever has left says so: "wrote" or "read", or "wrote beside OTHER" when it was not alone as it should have been.
type hall struct{ folder, name string }

// newHall makes a hall, of which nobody knows yet.
func newHall(t *testing.T) (folder string) {
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "count"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// visit enters the hall and leaves it, and returns what to say of that.
func (r hall) visit(writes bool) (string, error) {
	mark, said := r.name+".reads", "read"
	if writes {
		mark, said = r.name+".writes", "wrote"
	}
	file := filepath.Join(r.folder, mark)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return "", err
	}
	before := r.other(mark, writes)
	if err := r.stay(writes); err != nil {
		return "", err
	}
	after := r.other(mark, writes)
	if other := cmp.Or(before, after); other != "" {
		said += " beside " + other
	}
	return said, os.Remove(file)
}

// stay does what a holder does.
func (r hall) stay(writes bool) error {
	const work = time.Millisecond
	if !writes {
		time.Sleep(work)
		return nil
	}
	n, err := r.count()
	if err != nil {
		return err
	}
	time.Sleep(work)
	return os.WriteFile(filepath.Join(r.folder, "count"), []byte(strconv.Itoa(n+1)), 0o600)
}

func (r hall) count() (int, error) {
	text, err := os.ReadFile(filepath.Join(r.folder, "count"))
	if err != nil || len(text) == 0 { // empty: another one writes it too
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// other is the file of somebody who must not be inside too; empty when nobody is.
func (r hall) other(mark string, writes bool) string {
	files, _ := os.ReadDir(r.folder)
	for _, f := range files {
		counts := strings.HasSuffix(f.Name(), ".writes") || writes && strings.HasSuffix(f.Name(), ".reads")
		if counts && f.Name() != mark {
			return f.Name()
		}
	}
	return ""
}

// judge returns what is wrong with what the visitors of a hall said: two were inside, or somebody was there too seldom,
// in one of the ways in which it should have been.
func (r hall) judge(said map[string][]string, least int, ways ...string) (wrong []string) {
	total := 0
	for who, lines := range said {
		often := make(map[string]int)
		for _, line := range lines {
			way, other, crowded := strings.Cut(line, " beside ")
			often[way]++
			if crowded {
				wrong = append(wrong, fmt.Sprintf("%s %s beside %s", who, way, other))
			}
		}
		for _, way := range ways {
			if often[way] < least {
				wrong = append(wrong, fmt.Sprintf("%s %s %d times, want at least %d", who, way, often[way], least))
			}
		}
		total += often["wrote"]
	}
	if n, err := r.count(); err != nil || n != total {
		wrong = append(wrong, fmt.Sprintf("%d wrote one after the other, and the count is %d, %v", total, n, err))
	}
	return wrong
}

// The judge must see what would be wrong with a lock that does not lock.
func TestJudge(t *testing.T) {
	first, second := hall{newHall(t), "first"}, hall{"", "second"}
	second.folder = first.folder
	if err := os.WriteFile(filepath.Join(first.folder, "first.reads"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(map[string][]string)
	for _, writes := range []bool{true, false} { // while the first reads
		line, err := second.visit(writes)
		if err != nil {
			t.Fatal(err)
		}
		said[second.name] = append(said[second.name], line)
	}
	said[first.name] = []string{"wrote", "read"} // which the count does not know of

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
