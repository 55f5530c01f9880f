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

// In this tree a module uses the others as they are here, also where there is no workspace.
func TestModulesReplaceOurs(t *testing.T) {
	for _, name := range find(t, func(name string) bool { return path.Base(name) == "go.mod" }) {
		mod := read(t, name)
		for line := range strings.Lines(mod) {
			ours, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), " ")
			_, isOurs := within(ours)
			if isOurs && !strings.Contains(mod, "replace "+ours+" => ..") && !strings.Contains(mod, "\t"+ours+" => ..") {
				t.Errorf("%s requires %s and does not replace it by a folder", name, ours)
			}
		}
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
