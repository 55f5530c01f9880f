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

// slowRaced are packages without servers that the race detector makes much slower: what reads much source, models of
// which all states are looked at, a database in Go, and a driver whose records are JSON.
var slowRaced = []string{"driver/template", "holdfastvet", "internal/style", "mutants", "quorum", "sqllock/sqltest"}

// usual are the groups of make test. The race detector is where it costs little: where there are servers it is left to
// make test-long.
func usual(all []tested, flags []string) []group {
	var plain, raced group
	for _, p := range all {
		g := &raced
		if p.serves || slices.Contains(slowRaced, strings.TrimPrefix(p.path, module)) {
			g = &plain
		}
		g.packages = append(g.packages, p.path)
	}
	plain.flags = flags
	raced.flags = slices.Concat([]string{"-race"}, beside(flags))
	return withPackages(plain, raced)
}

// long are the groups of make test-long: the tests that call effort.Long or effort.Raced, with the race detector in
// packages that have some of the latter.
func long(all []tested, flags []string) ([]group, error) {
	var plain, raced group
	var plainTests, racedTests []string
	for _, p := range all {
		names, isRaced, err := p.longTests()
		switch {
		case err != nil:
			return nil, err
		case len(names) == 0:
		case isRaced:
			raced.packages, racedTests = append(raced.packages, p.path), append(racedTests, names...)
		default:
			plain.packages, plainTests = append(plain.packages, p.path), append(plainTests, names...)
		}
	}
	raced.flags = slices.Concat([]string{"-race", "-run", only(racedTests)}, flags)
	plain.flags = slices.Concat([]string{"-run", only(plainTests)}, beside(flags))
	return withPackages(raced, plain), nil
}

// beside are the flags of a group that has less to do than the other, which runs at the same time.
func beside(flags []string) []string { return slices.Concat(flags, []string{"-p", "2"}) }

// only is the pattern of these tests and no others.
func only(names []string) string {
	slices.Sort(names)
	return "^(" + strings.Join(slices.Compact(names), "|") + ")$"
}

func withPackages(groups ...group) []group {
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.packages) == 0 })
}

var (
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	saysLong = regexp.MustCompile(`(?m)^\t+effort\.(Long|Raced)\(t\)`)
)

// longTests returns the tests that call effort.Long or effort.Raced, and whether some call the latter.
func (p tested) longTests() (names []string, raced bool, err error) {
	files, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
	if err != nil {
		return nil, false, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, false, err
		}
		for function := range strings.SplitSeq(string(text), "\n}\n") {
			name, says := testFunc.FindStringSubmatch(function), saysLong.FindStringSubmatch(function)
			if name != nil && says != nil {
				names, raced = append(names, name[1]), raced || says[1] == "Raced"
			}
		}
	}
	return names, raced, nil
}

// kit is the package that starts servers.
const kit = "internal/servers"

// described is a line for each package, and for each program of tests: of these, whether the kit of servers is in it.
const described = `{{.ImportPath}}|{{.Dir}}|` +
	`{{range .Deps}}{{if eq . "` + module + kit + `"}}serves{{end}}{{end}}`

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
			serves[path] = parts[2] != "" || path == module+kit
		default:
			all = append(all, tested{path: path, dir: parts[1]})
		}
	}
	for i := range all {
		all[i].serves = serves[all[i].path]
	}
	return all
}
