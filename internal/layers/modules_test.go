package layers

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// A user of one backend must not see what another needs.
func TestRootRequiresNothing(t *testing.T) {
	if mod := read(t, "go.mod"); strings.Contains(mod, "require") {
		t.Errorf("the root module requires something:\n%s", mod)
	}
	if _, err := os.Stat(onDisk("go.sum")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the root module has a go.sum: %v", err)
	}
}

// apart is the module of the tools, which is outside the workspace so that what they need stays outside too.
const apart = "internal/devtools"

// A module that is not in the workspace is tested by nobody.
func TestModulesAreInTheWorkspace(t *testing.T) {
	work := read(t, "go.work")
	modules := make(map[string]bool)
	for _, f := range goFiles(t) {
		modules[f.module] = true
	}
	for m := range modules {
		if use := "./" + m; m != "." && m != apart && !strings.Contains(work, "\t"+use+"\n") {
			t.Errorf("%s has Go files and is not in go.work; run there: go work use %s", m, use)
		}
	}
	if !modules["."] || !modules["systemtest"] {
		t.Errorf("found the modules %v only", modules)
	}
}

// Go.work alone has the modules of this tree use each other as they are here. The go command refuses to
// install a program whose go.mod replaces anything, and asks for a version that nobody has published where
// go.work does not replace it.
func TestGoWorkTiesModules(t *testing.T) {
	work, required := read(t, "go.work"), 0
	for _, name := range find(t, func(name string) bool { return path.Base(name) == "go.mod" }) {
		for line := range strings.Lines(read(t, name)) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "require ")
			ours, version, _ := strings.Cut(line, " ")
			folder, isOurs := within(ours)
			if strings.HasPrefix(line, "replace") || strings.Contains(line, "=>") {
				t.Errorf("%s has a replacement: %s", name, line)
			} else if isOurs && version != "" {
				required++
				tie := "\t" + ours + " " + version + " => ./" + strings.TrimPrefix(folder, ".") + "\n"
				if !strings.Contains(work, tie) {
					t.Errorf("%s requires %s, but go.work has no line %q; run: make tidy", name, line, tie)
				}
			}
		}
	}
	if required < 20 {
		t.Errorf("only %d requirements of ours were found", required)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(onDisk(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
