// Surface holds what others can see of this tree to what is checked in, so that a change of it shows up in review:
//
//	surface check FOLDER PACKAGE...
//	surface write FOLDER PACKAGE...
//
// In the folder are FOLDER/api, with the exported names of each package that programs can import, and FOLDER/deps,
// with the modules that each of them and each command brings along. Check also finds exported names without a
// comment.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 4 || os.Args[1] != "check" && os.Args[1] != "write" {
		fmt.Fprintln(os.Stderr, "usage: surface check|write FOLDER PACKAGE...")
		os.Exit(2)
	}
	problems, err := run(os.Args[1] == "write", os.Args[2], os.Args[3:])
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "surface:", err)
	}
	if err != nil || len(problems) > 0 {
		os.Exit(1)
	}
}

// run compares, or writes, what the packages show. The problems are what a person has to mend.
func run(write bool, folder string, patterns []string) (problems []string, err error) {
	seen, err := load(patterns)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, p := range seen {
		if p.Name != "main" {
			files[filepath.Join("api", fileName(p))] = api(p)
			problems = append(problems, uncommented(p)...)
		}
		files[filepath.Join("deps", fileName(p))] = dependencies(p)
	}
	if write {
		return problems, writeAll(folder, files)
	}
	return append(problems, compare(folder, files)...), nil
}

// fileName is the file about a package: its path below the root's, with dots.
func fileName(p *packages.Package) string {
	below := strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, root), "/")
	if below == "" {
		below = "holdfast"
	}
	return strings.ReplaceAll(below, "/", ".") + ".txt"
}

func writeAll(folder string, files map[string][]byte) error {
	for _, part := range []string{"api", "deps"} {
		if err := os.RemoveAll(filepath.Join(folder, part)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(folder, part), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare returns what differs from what is checked in.
func compare(folder string, files map[string][]byte) (problems []string) {
	there, _ := filepath.Glob(filepath.Join(folder, "*", "*.txt"))
	for _, path := range there {
		name, _ := filepath.Rel(folder, path)
		if _, still := files[name]; !still {
			problems = append(problems, path+" is about no package that is there; run: make surface")
		}
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		was, err := os.ReadFile(path)
		switch {
		case err != nil:
			problems = append(problems, path+" is missing; run: make surface")
		case !bytes.Equal(was, text):
			problems = append(problems, path+" has changed; if that is wanted, run: make surface\n"+difference(was,
				text))
		}
	}
	slices.Sort(problems)
	return problems
}

// difference lists the lines that are in one text alone.
func difference(was, is []byte) string {
	before, after := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
	var b strings.Builder
	for _, line := range before {
		if !slices.Contains(after, line) {
			b.WriteString("\t- " + line + "\n")
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			b.WriteString("\t+ " + line + "\n")
		}
	}
	return b.String()
}
