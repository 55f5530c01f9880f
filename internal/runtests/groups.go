package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A group is what one go test runs.
type group struct {
	flags    []string
	packages []string
}

// A tested package is what the groups are made of.
type tested struct {
	path, dir string
	serves    bool // its tests may start servers
}

// slowRaced are packages without servers that the race detector makes much slower: what reads much source, and a
// database in Go.
var slowRaced = []string{"holdfastvet", "internal/style", "sqllock/sqltest"}

// usual are the groups of make test. The race detector is where it costs little: where there are servers it is left to
// the tests of make test-long.
func usual(all []tested, flags []string) []group {
	plain, raced := group{flags: flags}, group{flags: slices.Concat([]string{"-race"}, flags, []string{"-p", "1"})}
	for _, p := range all {
		g := &raced
		if p.serves || slices.Contains(slowRaced, strings.TrimPrefix(p.path, module)) {
			g = &plain
		}
		g.packages = append(g.packages, p.path)
	}
	return withPackages(plain, raced)
}

// long is the group of make test-long: the tests that say so themselves, with the race detector.
func long(all []tested, flags []string) ([]group, error) {
	var names, packages []string
	for _, p := range all {
		found, err := p.longTests()
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			names, packages = append(names, found...), append(packages, p.path)
		}
	}
	slices.Sort(names)
	only := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
	return withPackages(group{slices.Concat([]string{"-race", "-run", only}, flags), packages}), nil
}

func withPackages(groups ...group) []group {
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.packages) == 0 })
}

var (
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	saysLong = regexp.MustCompile(`\beffort\.(Long|Raced)\(`)
)

// longTests returns the tests that call effort.Long or effort.Raced.
func (p tested) longTests() (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for function := range strings.SplitSeq(string(text), "\n}\n") {
			if name := testFunc.FindStringSubmatch(function); name != nil && saysLong.MatchString(function) {
				names = append(names, name[1])
			}
		}
	}
	return names, nil
}

// described is a line for each package, and for each program of tests: of these, whether the kit of servers is in it.
const described = `{{.ImportPath}}|{{.Dir}}|` +
	`{{range .Deps}}{{if eq . "` + module + `internal/servers"}}serves{{end}}{{end}}`

// list returns what is known of packages, in their order.
func list(packages []string) ([]tested, error) {
	cmd := exec.Command("go", slices.Concat([]string{"list", "-test", "-f", described}, packages)...)
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	return describe(string(lines)), err
}

func describe(lines string) (all []tested) {
	serves := make(map[string]bool)
	for line := range strings.Lines(lines) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		switch path, program := strings.CutSuffix(parts[0], ".test"); {
		case strings.Contains(parts[0], " "): // a package as a program of tests has it
		case program:
			serves[path] = parts[2] != ""
		default:
			all = append(all, tested{path: path, dir: parts[1]})
		}
	}
	for i := range all {
		all[i].serves = serves[all[i].path]
	}
	return all
}
