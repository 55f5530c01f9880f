// Package interop lets processes of several programs take turns under one lock, and judges whether it locked.
package interop

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

// A Section is a folder that processes enter while they hold a lock, whatever they are written in. It knows nothing
// of locks:
//
//   - Whoever enters makes a file, NAME.writes or NAME.reads, and looks for those of others, then and before it leaves.
//     So of two that are inside at once, at least one sees the other.
//   - A writer reads a number from the file count, waits for a moment, and writes the next one.
//   - Whoever has left says so: "wrote" or "read", or "wrote beside OTHER" when it was not alone as it should have
//     been.
type Section struct{ Folder, Name string }

// New makes the folder of a section, of which nobody knows yet.
func New(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "count"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Enter enters the section and leaves it, and returns what to say of that.
func (s Section) Enter(writes bool) (string, error) {
	mark, said := s.Name+".reads", "read"
	if writes {
		mark, said = s.Name+".writes", "wrote"
	}
	file := filepath.Join(s.Folder, mark)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return "", err
	}
	before := s.other(mark, writes)
	if err := s.stay(writes); err != nil {
		return "", err
	}
	after := s.other(mark, writes)
	if other := cmp.Or(before, after); other != "" {
		said += " beside " + other
	}
	return said, os.Remove(file)
}

// stay does what a holder does.
func (s Section) stay(writes bool) error {
	const work = time.Millisecond
	if !writes {
		time.Sleep(work)
		return nil
	}
	n, err := s.count()
	if err != nil {
		return err
	}
	time.Sleep(work)
	return os.WriteFile(filepath.Join(s.Folder, "count"), []byte(strconv.Itoa(n+1)), 0o600)
}

func (s Section) count() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.Folder, "count"))
	if err != nil || len(text) == 0 { // empty: another one writes it too
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// other is the file of somebody who must not be inside too; empty when nobody is.
func (s Section) other(mark string, writes bool) string {
	files, _ := os.ReadDir(s.Folder)
	for _, f := range files {
		counts := strings.HasSuffix(f.Name(), ".writes") || writes && strings.HasSuffix(f.Name(), ".reads")
		if counts && f.Name() != mark {
			return f.Name()
		}
	}
	return ""
}

// The ways of being in a section that a test expects of everybody.
var (
	Writing = []string{"wrote"}
	Both    = []string{"wrote", "read"}
)

// judge returns what is wrong with what the visitors of a section said: two were inside, or somebody was there too
// seldom, in one of the ways in which it should have been.
func (s Section) judge(said map[string][]string, least int, ways ...string) (wrong []string) {
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
	if n, err := s.count(); err != nil || n != total {
		wrong = append(wrong, fmt.Sprintf("%d wrote one after the other, and the count is %d, %v", total, n, err))
	}
	return wrong
}
