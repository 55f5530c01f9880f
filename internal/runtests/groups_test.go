package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tests that need no server have the race detector; each package is in one group.
func TestUsual(t *testing.T) {
	all := describe("us/a|/a|\nus/b|/b|\n" + module + "holdfastvet|/v|\n" +
		"us/a.test|/a|\nus/b.test|/b|serves\nus/a [us/a.test]|/a|\nus/c|/c|\n" + module + "holdfastvet.test|/v|\n")
	groups := usual(all, []string{"-p", "4"})
	if len(groups) != 2 || !slices.Equal(groups[0].packages, []string{"us/b", module + "holdfastvet"}) ||
		!slices.Equal(groups[1].packages, []string{"us/a", "us/c"}) {
		t.Errorf("groups %v", groups)
	}
	if slices.Contains(groups[0].flags, "-race") || !slices.Contains(groups[1].flags, "-race") {
		t.Errorf("flags %v", groups)
	}
}

// Long tests are those that say so, whatever their packages have besides; the race detector is where one is raced.
func TestLong(t *testing.T) {
	const (
		ofB = "func TestB(t *testing.T) {\n\tx()\n}\n\nfunc help() {\n\teffort.Long(t)\n}\n"
		ofA = ofB + "\nfunc TestA(t *testing.T) {\n\tif x {\n\t\teffort.Long(t)\n\t}\n}\n"
		ofC = ofA + "\n// C\nfunc TestC(t *testing.T) {\n\teffort.Raced(t)\n}\n"
	)
	var all []tested
	for path, content := range map[string]string{"usual": ofB, "long": ofA, "raced": ofC} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package a\n\n"+content), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, tested{path: path, dir: dir})
	}
	groups, err := long(all, nil)
	if err != nil || len(groups) != 2 {
		t.Fatalf("groups %v, %v", groups, err)
	}
	for i, want := range []string{"-race -run ^(TestA|TestC)$ raced", "-run ^(TestA)$ -p 2 long"} {
		if got := strings.Join(append(groups[i].flags, groups[i].packages...), " "); got != want {
			t.Errorf("group %d is %s, want %s", i, got, want)
		}
	}
}
