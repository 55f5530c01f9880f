package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Tie has go.work replace our modules, at the version that they require of each other, by their folders. Without
// that the go command would ask for the go.mod of this version, although go.work has the module; and before a
// release nobody has it.
func Tie(top string) error {
	work, err := Work(top)
	if err != nil {
		return err
	}
	modules, err := Load(top)
	if err != nil {
		return err
	}
	for _, r := range work.Replace {
		if err := work.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	work.Cleanup()
	text := append(modfile.Format(work.Syntax), ties(modules, required(modules))...)
	return os.WriteFile(filepath.Join(top, "go.work"), text, 0o644)
}

// ties is the text of those replacements. A library that edits go.work would make a block of each.
func ties(modules []Module, version string) string {
	var lines []string
	for _, m := range modules {
		lines = append(lines, fmt.Sprintf("\t%s %s => ./%s\n", m.Path(), version, strings.TrimPrefix(m.Folder, ".")))
	}
	slices.Sort(lines)
	return "\nreplace (\n" + strings.Join(lines, "") + ")\n"
}

// required is the latest version that one of our modules requires of another.
func required(modules []Module) string {
	latest := "v0.0.0"
	for _, m := range modules {
		for _, r := range m.File.Require {
			if IsOurs(r.Mod.Path) && semver.Compare(r.Mod.Version, latest) > 0 {
				latest = r.Mod.Version
			}
		}
	}
	return latest
}

// Require has each of our modules require the others at a version.
func Require(top, version string) error {
	if err := CheckVersion(version); err != nil {
		return err
	}
	modules, err := Load(top)
	if err != nil {
		return err
	}
	for _, m := range modules {
		mod, err := m.Requiring(version)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(top, filepath.FromSlash(m.Folder), "go.mod"), mod, 0o644); err != nil {
			return err
		}
	}
	return Tie(top)
}

// Requiring returns the go.mod of a module as it is when it requires the others at a version.
func (m Module) Requiring(version string) ([]byte, error) {
	for _, path := range m.Needs() {
		if err := m.File.AddRequire(path, version); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Folder, err)
		}
	}
	return m.File.Format()
}
