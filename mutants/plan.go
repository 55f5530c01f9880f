package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fewest is how many faults each driver must have.
const fewest = 5

// faultsDir is where the faults are, in a folder for each driver.
const faultsDir = "mutants"

// A driver is what is broken.
type driver struct {
	name    string
	target  string   // the packages whose tests must notice, and perhaps which of their tests
	faults  []string // files in its folder
	noticed *memory
}

// split takes a target apart: packages, and the flags after them.
func split(target string) (packages, flags []string) {
	all := strings.Fields(target)
	isFlag := func(word string) bool { return strings.HasPrefix(word, "-") }
	if i := slices.IndexFunc(all, isFlag); i >= 0 {
		return all[:i], all[i:]
	}
	return all, nil
}

// plan finds the faults that are wanted; all of them if nothing is said.
func plan(tree string, wanted []string) ([]driver, error) {
	folders, err := driverFolders(tree)
	if err != nil {
		return nil, err
	}
	noticed, err := recall(tree)
	if err != nil {
		return nil, err
	}
	var drivers []driver
	for _, name := range folders {
		d, err := planDriver(tree, name, wanted)
		if err != nil {
			return nil, err
		}
		d.noticed = noticed
		if len(d.faults) > 0 {
			drivers = append(drivers, d)
		}
	}
	if len(drivers) == 0 {
		return nil, fmt.Errorf("there is no fault %q; there are those of %q", wanted, folders)
	}
	return drivers, nil
}

func driverFolders(tree string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(tree, faultsDir, "*", "*.patch"))
	names := make(map[string]bool)
	for _, name := range all {
		names[filepath.Base(filepath.Dir(name))] = true
	}
	return slices.Sorted(maps.Keys(names)), err
}

func planDriver(tree, name string, wanted []string) (driver, error) {
	d := driver{name: name, target: tests[name]}
	if d.target == "" {
		return d, fmt.Errorf("no tests are named for %s; add them to the table in %s/main.go", name, faultsDir)
	}
	entries, err := os.ReadDir(filepath.Join(tree, faultsDir, name))
	if err != nil {
		return d, err
	}
	if len(entries) < fewest {
		return d, fmt.Errorf("%s has %d faults, want at least %d", name, len(entries), fewest)
	}
	for _, e := range entries {
		if isWanted(name+"/"+e.Name(), wanted) {
			d.faults = append(d.faults, e.Name())
		}
	}
	return d, nil
}

func isWanted(fault string, wanted []string) bool {
	begins := func(w string) bool {
		return strings.HasPrefix(fault, w) && (strings.Contains(w, "/") || strings.HasPrefix(fault, w+"/"))
	}
	return len(wanted) == 0 || slices.ContainsFunc(wanted, begins)
}
