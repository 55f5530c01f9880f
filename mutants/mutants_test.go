package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// project is a tree with a driver that adds, and faults in it.
var project = map[string]string{
	"go.mod":       "module example\n\ngo 1.26\n",
	"adder/add.go": "package adder\n\nfunc Add(a, b int) int { return a + b }\n",
	"adder/a_test.go": "package adder\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n" +
		"\tt.Run(\"two\", func(t *testing.T) {\n\t\tif Add(2, 1) != 3 {\n\t\t\tt.Error(\"wrong\")\n\t\t}\n\t})\n}\n",
	faultsDir + "/adder/noticed.patch":  fault("a + b", "a - b"),
	faultsDir + "/adder/survives.patch": fault("a + b", "b + a"),
	faultsDir + "/adder/panics.patch":   fault("a + b", "a / (b - b)"),
	faultsDir + "/adder/hangs.patch":    fault("{ return a + b", "{ for a > 0 { }; return a + b"),
	faultsDir + "/adder/unbuilt.patch":  fault("a + b", "a + c"),
	faultsDir + "/adder/unapplied.patch": "# what was meant\n" +
		strings.Replace(fault("a + b", "a - b"), "-func", "-fun", 1),
	faultsDir + "/adder/elsewhere.patch": strings.ReplaceAll(fault("a + b", "a - b"), "adder/add.go", "adder/none.go"),
}

// fault is a patch of the adder.
func fault(old, new string) string {
	line := "func Add(a, b int) int { return a + b }\n"
	return "# a fault\n--- a/adder/add.go\n+++ b/adder/add.go\n@@ -3 +3 @@\n-" + line + "+" +
		strings.Replace(line, old, new, 1)
}

// lay writes the project, with changes, into a folder of its own.
func lay(t *testing.T, changes map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := maps.Clone(project)
	maps.Copy(files, changes)
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Each fault that is planted in this project applies to it as it is: who changes the code hears of it at once.
func TestFaultsApply(t *testing.T) {
	root := ".."
	patches, err := filepath.Glob(filepath.Join(root, faultsDir, "*", "*.patch"))
	if err != nil || len(patches) == 0 {
		t.Fatal(patches, err)
	}
	for _, patch := range patches {
		path, err := filepath.Rel(root, patch)
		if err != nil {
			t.Fatal(err)
		}
		check := exec.CommandContext(t.Context(), "git", "apply", "--check", path)
		check.Dir = root
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply; make it anew: %v\n%s", path, err, out)
		}
	}
}

func TestTry(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tree := lay(t, nil)
	d := driver{name: "adder", target: "./adder", noticed: &memory{}}
	for fault, complaint := range map[string]string{
		"noticed":   "",
		"panics":    "",
		"hangs":     "",
		"survives":  "the tests stay green",
		"unbuilt":   errNotBuilt.Error(),
		"unapplied": "it does not apply",
		"elsewhere": "it does not apply",
	} {
		err := d.try(t.Context(), tree, fault+".patch", 2*time.Second)
		switch {
		case complaint == "" && err != nil:
			t.Errorf("%s: %v", fault, err)
		case complaint != "" && (err == nil || !strings.Contains(err.Error(), complaint)):
			t.Errorf("%s: %v, want a complaint that %s", fault, err, complaint)
		}
	}
}

// The test that is said to have noticed a fault proves nothing if it fails without it, too, when it runs alone.
func TestDependentTestNoticesNothing(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tree := lay(t, map[string]string{"adder/b_test.go": `package adder

import "testing"

var prepared bool

func TestBefore(t *testing.T) { prepared = true }

func TestDependent(t *testing.T) {
	if !prepared {
		t.Error("alone")
	}
}
`})
	d := driver{name: "adder", target: "./adder", noticed: &memory{}}
	d.noticed.note("adder/survives", "TestDependent")
	err := d.try(t.Context(), tree, "survives.patch", 10*time.Second)
	if err == nil || !strings.Contains(err.Error(), "the tests stay green") {
		t.Errorf("%v, want a complaint that the tests stay green", err)
	}
}

func TestRedWithoutFaultsProvesNothing(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tree := lay(t, map[string]string{"adder/add.go": "package adder\n\nfunc Add(a, b int) int { return 0 }\n"})
	d := driver{name: "adder", target: "./adder", faults: []string{"noticed.patch"}, noticed: &memory{}}
	if err := d.run(t.Context(), tree); err == nil || !strings.Contains(err.Error(), "proves nothing") {
		t.Errorf("%v, want a complaint that it proves nothing", err)
	}
}

func TestPlan(t *testing.T) {
	tests["adder"] = "./adder"
	defer delete(tests, "adder")
	tree := lay(t, nil)
	for _, row := range []struct {
		wanted []string
		faults int
	}{
		{nil, 7},
		{[]string{"adder"}, 7},
		{[]string{"adder/un"}, 2},
		{[]string{"adder/noticed", "adder/hangs"}, 2},
	} {
		drivers, err := plan(tree, row.wanted)
		if err != nil || len(drivers) != 1 || len(drivers[0].faults) != row.faults {
			t.Errorf("%q: %v, %v, want %d faults", row.wanted, drivers, err, row.faults)
		}
	}
	if drivers, err := plan(tree, []string{"add"}); err == nil {
		t.Errorf("half a driver's name finds %v", drivers)
	}
}

func TestPlanRefuses(t *testing.T) {
	tests["adder"] = "./adder"
	defer delete(tests, "adder")
	few := lay(t, nil)
	for _, name := range slices.Collect(maps.Keys(project)) {
		if strings.HasSuffix(name, ".patch") && !strings.HasSuffix(name, "noticed.patch") {
			os.Remove(filepath.Join(few, name))
		}
	}
	if _, err := plan(few, nil); err == nil || !strings.Contains(err.Error(), "has 1 faults, want at least 5") {
		t.Errorf("with one fault: %v", err)
	}
	unknown := lay(t, map[string]string{faultsDir + "/other/one.patch": ""})
	if _, err := plan(unknown, nil); err == nil || !strings.Contains(err.Error(), "no tests are named for other") {
		t.Errorf("with a driver that is not in the table: %v", err)
	}
}

func TestNoticedBy(t *testing.T) {
	for _, row := range []struct{ out, want string }{
		{"--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/b (0.0s)\n        --- FAIL: TestA/b/c (0.0s)\n", "TestA/b/c"},
		{"--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/b (0.0s)\n    --- FAIL: TestA/c (0.0s)\n", "TestA/b"},
		{"--- FAIL: TestA (0.0s)\n--- FAIL: TestAll (0.0s)\n", "TestA"},
		{"panic: test timed out after 5s\n\trunning tests:\n", "panic: test timed out after 5s"},
		{"ok  \texample/adder\n", ""},
	} {
		if got := noticedBy([]byte(row.out)); got != row.want {
			t.Errorf("%q was noticed by %q, want %q", row.out, got, row.want)
		}
	}
}
