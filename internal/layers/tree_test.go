package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	root = "github.com/holdfast-go/holdfast"
	tree = "../.."
)

// A goFile is one of the tree, whatever system it is for.
type goFile struct {
	name    string // from the root of the tree, with slashes
	module  string // the folder of its module
	imports []string
}

func goFiles(t *testing.T) (files []goFile) {
	t.Helper()
	for _, name := range find(t, func(name string) bool { return path.Ext(name) == ".go" }) {
		files = append(files, goFile{name, moduleOf(name), importsOf(t, name)})
	}
	return files
}

// find returns the files of the tree that somebody wants.
func find(t *testing.T, want func(name string) bool) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(tree), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case !d.IsDir() && want(name):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func importsOf(t *testing.T, name string) (imports []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), onDisk(name), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, imported)
	}
	return imports
}

// moduleOf returns the folder of the go.mod that a file belongs to.
func moduleOf(file string) string {
	folder := path.Dir(file)
	for folder != "." {
		if _, err := os.Stat(onDisk(path.Join(folder, "go.mod"))); err == nil {
			break
		}
		folder = path.Dir(folder)
	}
	return folder
}

func onDisk(name string) string { return filepath.Join(tree, filepath.FromSlash(name)) }
