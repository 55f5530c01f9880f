// Package source reads packages and their types from source, without compiling anything: the bodies of our functions,
// and of others' only what they declare.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mode has what types are made of.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedModule

// Load reads the packages that match, as they are on a system such as "linux", without cgo. Ours are those below the
// current folder. What is wrong with a package is in its Errors.
func Load(system string, tests bool, patterns []string) ([]*packages.Package, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:      mode,
		Env:       append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests:     tests,
		ParseFile: parseFor(here),
	}, patterns...)
	if err == nil && len(loaded) == 0 {
		err = fmt.Errorf("no packages match %q", patterns)
	}
	return loaded, err
}

// parseFor parses files, and leaves out the bodies of functions outside a folder.
func parseFor(folder string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(set *token.FileSet, name string, source []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if file != nil && !strings.HasPrefix(name, folder+string(filepath.Separator)) {
			removeBodies(file)
		}
		return file, err
	}
}

func removeBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
