// Crosscheck says what keeps packages from being built on other systems, their tests too:
//
//	crosscheck SYSTEM,... PACKAGE...
//
// It reads the types of everything from source, and the bodies of our functions. To vet or build for another system
// would compile the standard library and all dependencies for it first, which takes many times as long.
package main

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

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck SYSTEM,... PACKAGE...")
		os.Exit(2)
	}
	bad := false
	for _, system := range strings.Split(os.Args[1], ",") {
		problems, err := check(system, os.Args[2:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck: %s: %v\n", system, err)
			os.Exit(1)
		}
		for _, p := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, p)
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax

func check(system string, patterns []string) (problems []string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:      mode,
		Env:       append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests:     true,
		ParseFile: parseFor(here),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("no packages match %q", patterns)
	}
	for _, p := range loaded { // those that were named; what they import is whole only as far as they need it
		for _, e := range p.Errors {
			if !isTestMain(p) {
				problems = append(problems, e.Error())
			}
		}
	}
	return problems, nil
}

// isTestMain reports whether a package is the program that the go command writes to run tests.
func isTestMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.ID, ".test")
}

// parseFor parses files, and leaves out the bodies of functions outside a folder.
func parseFor(folder string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(set *token.FileSet, name string, source []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
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
