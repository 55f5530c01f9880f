package released

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
)

var update = flag.Bool("update", false, "write down anew which modules each of ours brings along")

// Who gets one of our modules, and imports all that it has, gets the modules in its list in
// testdata/brings and no others.
func TestGet(t *testing.T) {
	if !*update {
		effort.Long(t)
	}
	n := arrive(t)
	modules := published(t)
	for _, module := range modules {
		t.Run(base(module), func(t *testing.T) {
			user := n.in(t, base(module), map[string]string{"go.mod": "module example.com/user\n\ngo 1.26.0\n"})
			user.run(t, "go", "get", module+"@"+version)
			if packages := user.importable(t, module); len(packages) > 0 {
				user.in(t, ".", map[string]string{"main.go": importing(packages)})
			} else {
				user.run(t, "go", "get", "-tool", module+"@"+version)
			}
			user.run(t, "go", "mod", "tidy")
			compare(t, module, user.required(t))
		})
	}
	lists, _ := filepath.Glob(listOf("*"))
	if len(lists) != len(modules) {
		t.Errorf("%d modules have %d lists", len(modules), len(lists))
	}
}

// published lists the modules that the proxy has.
func published(t *testing.T) (modules []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(proxy), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "@v" {
			modules = append(modules, path.Dir(name))
		}
		return err
	})
	if err != nil || len(modules) < 10 {
		t.Fatalf("the proxy has only %v: %v", modules, err)
	}
	return modules
}

// base is the name of a module as part of the name of a file.
func base(module string) string {
	if module == root {
		return "holdfast"
	}
	return strings.ReplaceAll(strings.TrimPrefix(module, root+"/"), "/", ".")
}

func listOf(name string) string { return filepath.Join("testdata", "brings", name+".txt") }

// importable lists the packages of a module that a program can import.
func (n newcomer) importable(t *testing.T, module string) (packages []string) {
	t.Helper()
	const format = `{{if and .Module (ne .Name "main")}}{{.Module.Path}} {{.ImportPath}}{{end}}`
	for line := range strings.Lines(n.run(t, "go", "list", "-mod=mod", "-f", format, module+"/...")) {
		of, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if of == module && !slices.Contains(strings.Split(name, "/"), "internal") {
			packages = append(packages, name)
		}
	}
	return packages
}

// importing is a program that imports these packages.
func importing(packages []string) string {
	var b strings.Builder
	b.WriteString("package main\n\n")
	for _, p := range packages {
		b.WriteString("import _ \"" + p + "\"\n")
	}
	b.WriteString("\nfunc main() {}\n")
	return b.String()
}

// required lists the modules that a tidy go.mod names, one in each line.
func (n newcomer) required(t *testing.T) string {
	t.Helper()
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal([]byte(n.run(t, "go", "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range mod.Require {
		lines = append(lines, r.Path+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func compare(t *testing.T, module, is string) {
	t.Helper()
	name := listOf(base(module))
	if *update {
		if err := os.WriteFile(name, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Errorf("%s has no list: %v; run: go test ./internal/released -update", module, err)
	} else if is != string(want) {
		t.Errorf("%s brings along\n%s\nwant, from %s,\n%s\n"+
			"if the change is wanted, run: go test ./internal/released -update", module, is, name, want)
	}
}
