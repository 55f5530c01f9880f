package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// What takes longest begins first, and nothing is left out.
func TestLongFirst(t *testing.T) {
	at := func(path string) tested { return tested{path: path} }
	given := []tested{at(module + "zklock"), at(module + "a"), at("std/zklock"), at(module + "cmd/holdfast")}
	want := []tested{at(module + "cmd/holdfast"), at(module + "zklock"), at(module + "a"), at("std/zklock")}
	if got := longFirst(given); !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}

// A package that was moved would lose its place without a word.
func TestLongAreThere(t *testing.T) {
	for _, path := range longest {
		if tests, err := filepath.Glob(filepath.Join("../..", path, "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("%s has no tests; take it off the list", path)
		}
	}
}
