package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// folders lists where the go.mod files of the tree are.
func folders(top string) (found []string, err error) {
	list, err := tree.Git(top, "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*go.mod")
	for name := range strings.Lines(list) {
		folder := filepath.Dir(strings.TrimSpace(name))
		if _, err := os.Stat(filepath.Join(top, folder, "go.mod")); err == nil {
			found = append(found, folder)
		}
	}
	return found, err
}

// A pair is a go.mod and the go.sum beside it.
type pair struct{ mod, sum []byte }

func readPair(mod, sum string) (p pair, err error) {
	if p.mod, err = os.ReadFile(mod); err != nil {
		return p, err
	}
	if p.sum, err = os.ReadFile(sum); os.IsNotExist(err) {
		err = nil // it needs nothing of others
	}
	return p, err
}

// module compares the files of a module with tidy ones, or makes them so.
func module(top, folder string, write bool) error {
	mod, sum := filepath.Join(top, folder, "go.mod"), filepath.Join(top, folder, "go.sum")
	is, err := readPair(mod, sum)
	if err != nil {
		return err
	}
	want, err := tidied(top, folder, is)
	switch {
	case err != nil:
		return fmt.Errorf("whether %s is tidy cannot be told; does the module proxy answer?\n%w", mod, err)
	case bytes.Equal(is.mod, want.mod) && bytes.Equal(is.sum, want.sum):
		return nil
	case !write:
		return fmt.Errorf("%s or go.sum is not tidy; run: make tidy\n%s%s", mod,
			difference(is.mod, want.mod), difference(is.sum, want.sum))
	}
	return writePair(mod, sum, want)
}

func writePair(mod, sum string, p pair) error {
	if err := os.WriteFile(mod, p.mod, 0o644); err != nil {
		return err
	}
	if len(p.sum) == 0 {
		return os.RemoveAll(sum)
	}
	return os.WriteFile(sum, p.sum, 0o644)
}

// tidied returns what go mod tidy makes of the files of a module. It works on copies, in which our modules are
// replaced by their folders: so it asks nobody for versions of ours, which may not be published, and puts no sums
// of them into go.sum.
func tidied(top, folder string, is pair) (pair, error) {
	aside, err := os.MkdirTemp("", "tidy")
	if err != nil {
		return pair{}, err
	}
	defer os.RemoveAll(aside)
	mod, sum := filepath.Join(aside, "go.mod"), filepath.Join(aside, "go.sum")
	if is.mod, err = tied(top, is.mod); err != nil {
		return pair{}, err
	}
	if err := writePair(mod, sum, is); err != nil {
		return pair{}, err
	}
	command := exec.Command("go", "mod", "tidy", "-modfile", mod)
	command.Dir = filepath.Join(top, folder)
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := command.CombinedOutput(); err != nil {
		return pair{}, fmt.Errorf("%w: %s", err, lastLines(out, 3))
	}
	tidy, err := readPair(mod, sum)
	if err != nil {
		return pair{}, err
	}
	tidy.mod, err = untied(tidy.mod)
	return tidy, err
}

// tied adds to a go.mod what go.work says: where our modules are.
func tied(top string, mod []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	work, err := tree.Work(top)
	if err != nil {
		return nil, err
	}
	for _, r := range work.Replace {
		folder, err := filepath.Abs(filepath.Join(top, r.New.Path))
		if err != nil {
			return nil, err
		}
		if err := file.AddReplace(r.Old.Path, r.Old.Version, folder, ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

// untied takes that out again.
func untied(mod []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Replace {
		if !tree.IsOurs(r.Old.Path) {
			continue
		}
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	file.Cleanup()
	return file.Format()
}

// difference lists the lines that are in one text alone.
func difference(is, want []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(is) {
		if !bytes.Contains(want, line) {
			b.WriteString("\t- " + string(line))
		}
	}
	for line := range bytes.Lines(want) {
		if !bytes.Contains(is, line) {
			b.WriteString("\t+ " + string(line))
		}
	}
	return b.String()
}

func lastLines(text []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
