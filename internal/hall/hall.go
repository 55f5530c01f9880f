// Package hall lets processes of several programs take turns under one lock, and judges whether it locked.
package hall

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Hall is a folder that processes enter while they hold a lock, whatever they are written in. It knows nothing of locks:
//
//   - Whoever enters makes a file, NAME.writes or NAME.reads, and looks for those of others, then and before it leaves.
//     So of two that are inside at once, at least one sees the other.
//   - A writer reads a number from the file count, waits for a moment, and writes the next one.
//   - Whoever has left says so: "wrote" or "read", or "wrote beside OTHER" when it was not alone as it should have been.
type Hall struct{ Folder, Name string }

// New makes the folder of a hall, of which nobody knows yet.
func New(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "count"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Visit enters the hall and leaves it, and returns what to say of that.
func (h Hall) Visit(writes bool) (string, error) {
	mark, said := h.Name+".reads", "read"
	if writes {
		mark, said = h.Name+".writes", "wrote"
	}
	file := filepath.Join(h.Folder, mark)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return "", err
	}
	before := h.other(mark, writes)
	if err := h.stay(writes); err != nil {
		return "", err
	}
	after := h.other(mark, writes)
	if other := cmp.Or(before, after); other != "" {
		said += " beside " + other
	}
	return said, os.Remove(file)
}

// stay does what a holder does.
func (h Hall) stay(writes bool) error {
	const work = time.Millisecond
	if !writes {
		time.Sleep(work)
		return nil
	}
	n, err := h.count()
	if err != nil {
		return err
	}
	time.Sleep(work)
	return os.WriteFile(filepath.Join(h.Folder, "count"), []byte(strconv.Itoa(n+1)), 0o600)
}

func (h Hall) count() (int, error) {
	text, err := os.ReadFile(filepath.Join(h.Folder, "count"))
	if err != nil || len(text) == 0 { // empty: another one writes it too
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// other is the file of somebody who must not be inside too; empty when nobody is.
func (h Hall) other(mark string, writes bool) string {
	files, _ := os.ReadDir(h.Folder)
	for _, f := range files {
		counts := strings.HasSuffix(f.Name(), ".writes") || writes && strings.HasSuffix(f.Name(), ".reads")
		if counts && f.Name() != mark {
			return f.Name()
		}
	}
	return ""
}

// The ways of being in a hall that a test expects of everybody.
var (
	Writing = []string{"wrote"}
	Both    = []string{"wrote", "read"}
)

// judge returns what is wrong with what the visitors of a hall said: two were inside, or somebody was there too seldom,
// in one of the ways in which it should have been.
func (h Hall) judge(said map[string][]string, least int, ways ...string) (wrong []string) {
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
	if n, err := h.count(); err != nil || n != total {
		wrong = append(wrong, fmt.Sprintf("%d wrote one after the other, and the count is %d, %v", total, n, err))
	}
	return wrong
}
