// Package tree knows the modules of this tree: which there are, what they need of each other, and which are released.
package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Root is the path of the root module. Those of the others begin with it.
const Root = "github.com/holdfast-go/holdfast"

// unreleased matches the folders of modules that only test or show the others. They never get a tag. The same rule
// is in scripts/seen.sh.
var unreleased = regexp.MustCompile(`(^|/)(lab|bench|mutants|systemtest|examples|[a-z]+test)$`)

// A Module is one of the workspace.
type Module struct {
	Folder string // from the top of the tree, with slashes: "." or "redislock"
	File   *modfile.File
}

// Load reads the modules that go.work names. A module comes after all that it needs, so that what is pushed or
// published in this order never needs what is not there yet.
func Load(top string) ([]Module, error) {
	work, err := Work(top)
	if err != nil {
		return nil, err
	}
	var modules []Module
	for _, use := range work.Use {
		m, err := read(top, filepath.ToSlash(filepath.Clean(use.Path)))
		if err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	return inOrder(modules)
}

// Work reads go.work.
func Work(top string) (*modfile.WorkFile, error) {
	name := filepath.Join(top, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(name, text, nil)
}

func read(top, folder string) (Module, error) {
	name := filepath.Join(top, filepath.FromSlash(folder), "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return Module{}, err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return Module{}, err
	}
	m := Module{Folder: folder, File: file}
	if want := m.Path(); file.Module == nil || file.Module.Mod.Path != want {
		return Module{}, fmt.Errorf("%s is not the module %s, as its folder says", name, want)
	}
	return m, nil
}

// Path is what people import the module by.
func (m Module) Path() string {
	if m.Folder == "." {
		return Root
	}
	return Root + "/" + m.Folder
}

// Released reports whether people get this module by a version.
func (m Module) Released() bool { return !unreleased.MatchString(m.Folder) }

// Tag is the name by which git, and so the go command, finds a version of the module.
func (m Module) Tag(version string) string {
	if m.Folder == "." {
		return version
	}
	return m.Folder + "/" + version
}

// Needs lists the paths of our modules that this one requires.
func (m Module) Needs() (paths []string) {
	for _, r := range m.File.Require {
		if IsOurs(r.Mod.Path) {
			paths = append(paths, r.Mod.Path)
		}
	}
	return paths
}

// IsOurs reports whether a module is one of this tree.
func IsOurs(path string) bool { return path == Root || strings.HasPrefix(path, Root+"/") }

// Released returns those of the modules that people get by a version.
func Released(modules []Module) []Module {
	return slices.DeleteFunc(slices.Clone(modules), func(m Module) bool { return !m.Released() })
}

// inOrder sorts modules by what they need, and those that need nothing of each other as they were.
func inOrder(modules []Module) (sorted []Module, err error) {
	done := make(map[string]bool)
	ready := func(m Module) bool {
		return !slices.ContainsFunc(m.Needs(), func(path string) bool { return !done[path] })
	}
	for left := slices.Clone(modules); len(left) > 0; {
		i := slices.IndexFunc(left, ready)
		if i < 0 {
			return nil, fmt.Errorf("%s needs a module that is not in go.work, or one that needs it in turn",
				left[0].Path())
		}
		done[left[i].Path()] = true
		sorted = append(sorted, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return sorted, nil
}

// CheckVersion says what keeps a text from being a version of these modules: their paths have no /v2.
func CheckVersion(version string) error {
	major := semver.Major(version)
	switch {
	case semver.Canonical(version) != version || version == "":
		return fmt.Errorf("%q is not a version such as v0.1.0", version)
	case major != "v0" && major != "v1":
		return fmt.Errorf("%s would need module paths that end in /%s", version, major)
	}
	return nil
}
