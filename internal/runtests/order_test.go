package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// What takes longest begins first, and nothing is left out.
func TestLongFirst(t *testing.T) {
	given := []string{module + "zklock", module + "a", "std/zklock", module + "cmd/holdfast", module + "b"}
	want := []string{module + "cmd/holdfast", module + "zklock", module + "a", "std/zklock", module + "b"}
	if got := longFirst(given); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

// A package that was moved would lose its place without a word.
func TestLongAreThere(t *testing.T) {
	for _, path := range long {
		if tests, err := filepath.Glob(filepath.Join("../..", path, "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("%s has no tests; take it off the list", path)
		}
	}
}
