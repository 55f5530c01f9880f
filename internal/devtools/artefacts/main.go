// Artefacts makes the files of a release of the command in a folder:
//
//	artefacts VERSION FOLDER [SYSTEM/ARCH...]
//
// They are an archive for each system, with manual pages and completions; packages for Debian and Red Hat; a formula
// for Homebrew; and their checksums. Whoever makes them again from the same commit gets the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// targets are the systems that a release is for.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: artefacts VERSION FOLDER [SYSTEM/ARCH...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "artefacts:", err)
		os.Exit(1)
	}
}

func run(version, folder string, only []string) error {
	wanted, err := choose(only)
	if err != nil {
		return err
	}
	m, err := newMaker(version, folder)
	if err != nil {
		return err
	}
	defer os.RemoveAll(m.work)
	if err := m.documents(); err != nil {
		return err
	}
	for _, t := range wanted {
		if err := m.make(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return m.finish(wanted)
}

func choose(only []string) (wanted []target, err error) {
	if len(only) == 0 {
		return targets, nil
	}
	for _, name := range only {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no release is for %q; there are %v", name, targets)
		}
		wanted = append(wanted, targets[i])
	}
	return wanted, nil
}

// A maker makes the artefacts of one version.
type maker struct {
	top     string    // of the checkout
	version string    // v0.1.0
	commit  string    // that of the checkout, and whether there were changes beside it
	date    time.Time // of the commit: that of every file, so that they are the same tomorrow
	out     string    // the folder for the artefacts
	work    string    // a folder for what goes into them
	made    []string  // the names of the archives and packages
}

func newMaker(version, folder string) (*maker, error) {
	if err := tree.CheckVersion(version); err != nil {
		return nil, err
	}
	top, err := tree.Top()
	if err != nil {
		return nil, err
	}
	commit, err := commitOf(top)
	if err != nil {
		return nil, err
	}
	seconds, err := tree.Git(top, "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return nil, err
	}
	since, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "artefacts")
	date := time.Unix(since, 0).UTC()
	return &maker{top: top, version: version, commit: commit, date: date, out: folder, work: work}, err
}

// commitOf says what a checkout is of, as the go command notes it.
func commitOf(top string) (string, error) {
	commit, err := tree.Git(top, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	changes, err := tree.Git(top, "status", "--porcelain")
	if changes != "" {
		commit += " modified"
	}
	return commit, err
}

// make makes the binary of a system, and what is made of that.
func (m *maker) make(t target) error {
	if err := m.build(t); err != nil {
		return err
	}
	if err := m.archive(t); err != nil {
		return err
	}
	if t.system != "linux" {
		return nil
	}
	return m.packages(t)
}

// finish makes what needs all others.
func (m *maker) finish(made []target) error {
	sums, err := m.checksums()
	if err != nil {
		return err
	}
	if len(made) < len(targets) {
		return nil // the formula is about several systems
	}
	return m.formula(sums)
}

// plain is the version as packages write it.
func (m *maker) plain() string { return strings.TrimPrefix(m.version, "v") }

func (m *maker) at(parts ...string) string {
	return filepath.Join(append([]string{m.work}, parts...)...)
}
