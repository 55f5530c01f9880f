// Package files has the files of this tree, for the tests that are about them.
package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root is the folder of the tree, for tests of packages in internal.
const Root = "../.."

// EndingIn returns the text of the files of the tree with this ending, by their paths.
func EndingIn(t testing.TB, ending string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(os.DirFS(Root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ending):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(Root, name))
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
