package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// publish writes the released modules into a folder as a module proxy would give them at a version, for
// GOPROXY=file://FOLDER. They are as they lie in the tree, but for the versions that they require of each other.
func publish(top, version, folder string) error {
	if err := tree.CheckVersion(version); err != nil {
		return err
	}
	modules, err := tree.Load(top)
	if err != nil {
		return err
	}
	files, err := wanted(top)
	if err != nil {
		return err
	}
	for _, m := range tree.Released(modules) {
		if err := publishOne(top, folder, version, m, files); err != nil {
			return err
		}
	}
	return nil
}

// wanted lists the files of the tree that git has, or would add.
func wanted(top string) (names []string, err error) {
	list, err := tree.Git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(top, name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

func publishOne(top, folder, version string, m tree.Module, all []string) error {
	escaped, err := module.EscapePath(m.Path())
	if err != nil {
		return err
	}
	at := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	mod, err := m.Requiring(version)
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	id := module.Version{Path: m.Path(), Version: version}
	if err := zip.Create(&packed, id, contents(top, m, mod, all)); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".mod":  mod,
		version + ".info": info,
		version + ".zip":  packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contents are the files of a module. Those of modules below it are not, and each has the license, as the go command
// does it when it makes a module of a folder of a repository.
func contents(top string, m tree.Module, mod []byte, all []string) (files []zip.File) {
	below := make(map[string]bool)
	for _, name := range all {
		if filepath.Base(name) == "go.mod" {
			below[filepath.Dir(name)] = true
		}
	}
	for _, name := range all {
		if owner(name, below) != m.Folder {
			continue
		}
		inside, _ := filepath.Rel(m.Folder, name)
		if inside == "go.mod" {
			files = append(files, written{name: "go.mod", text: mod})
		} else {
			files = append(files, onDisk{name: filepath.ToSlash(inside), path: filepath.Join(top, name)})
		}
	}
	if m.Folder != "." {
		files = append(files, onDisk{name: "LICENSE", path: filepath.Join(top, "LICENSE")})
	}
	return files
}

// owner returns the folder of the module that a file belongs to.
func owner(name string, modules map[string]bool) string {
	folder := filepath.Dir(name)
	for folder != "." && !modules[folder] {
		folder = filepath.Dir(folder)
	}
	return folder
}

// A file of a module, as it lies in the tree.
type onDisk struct{ name, path string }

func (f onDisk) Path() string                 { return f.name }
func (f onDisk) Lstat() (fs.FileInfo, error)  { return os.Lstat(f.path) }
func (f onDisk) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// A file of a module that is written for the release.
type written struct {
	name string
	text []byte
}

func (f written) Path() string                 { return f.name }
func (f written) Lstat() (fs.FileInfo, error)  { return f, nil }
func (f written) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.text)), nil }

func (f written) Name() string       { return f.name }
func (f written) Size() int64        { return int64(len(f.text)) }
func (f written) Mode() fs.FileMode  { return 0o644 }
func (f written) ModTime() time.Time { return time.Time{} }
func (f written) IsDir() bool        { return false }
func (f written) Sys() any           { return nil }
