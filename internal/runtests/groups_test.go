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

// Long tests are those that say so, whatever their packages have besides, and run with the race detector.
func TestLong(t *testing.T) {
	const text = "package a\n\nfunc TestA(t *testing.T) {\n\teffort.Long(t)\n}\n\n" +
		"func TestB(t *testing.T) {\n\tx()\n}\n\n" +
		"func help() {\n\teffort.Long(t)\n}\n\nfunc TestC(t *testing.T) {\n\teffort.Raced(t)\n}\n"
	var all []tested
	for _, content := range []string{text, "package a\n\nfunc TestB(t *testing.T) {\n}\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, tested{path: "p" + string(rune('0'+len(all))), dir: dir})
	}
	groups, err := long(all, nil)
	if err != nil || len(groups) != 1 || !slices.Equal(groups[0].packages, []string{"p0"}) ||
		strings.Join(groups[0].flags, " ") != "-race -run ^(TestA|TestC)$" {
		t.Errorf("groups %v, %v", groups, err)
	}
}
