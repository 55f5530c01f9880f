package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/files"
)

var (
	longFunc = regexp.MustCompile(`(?s)^func (Test\w+)\([^\n]*\n(?:.*\n)?\teffort\.(?:Long|Soak)\(t\)`)
	anyFunc  = regexp.MustCompile(`^func (Test\w+)\(`)
)

// Each promise is proved by make test: what a page of promises names is not only a test that takes long.
func TestPromisesAreProvedEachTime(t *testing.T) {
	usual, long := make(map[string]bool), make(map[string]bool)
	for _, text := range files.EndingIn(t, "_test.go") {
		sortTests(text, usual, long)
	}
	if len(usual) < 500 || len(long) < 5 {
		t.Errorf("only %d usual tests and %d long ones were found", len(usual), len(long))
	}
	text := pages(t)["docs/guarantees.md"]
	for _, name := range named.FindAllString(text, -1) {
		if long[name] && !usual[name] {
			t.Errorf("docs/guarantees.md names %s, which make test does not run", name)
		}
	}
}

// sortTests notes the tests of a file by whether all that they do takes long.
func sortTests(text string, usual, long map[string]bool) {
	for function := range strings.SplitSeq(text, "\n}\n") {
		function = function[max(0, strings.Index(function, "func Test")):]
		if found := longFunc.FindStringSubmatch(function); found != nil {
			long[found[1]] = true
		} else if found := anyFunc.FindStringSubmatch(function); found != nil {
			usual[found[1]] = true
		}
	}
}

func TestSortTests(t *testing.T) {
	usual, long := make(map[string]bool), make(map[string]bool)
	sortTests("package a\n\n// A\nfunc TestA(t *testing.T) {\n\tt.Parallel()\n\teffort.Long(t)\n}\n\n"+
		"func TestB(t *testing.T) {\n\tt.Run(\"long\", func(t *testing.T) {\n\t\teffort.Long(t)\n\t})\n}\n\n"+
		"func TestC(t *testing.T) {\n\teffort.Soak(t) // hours\n}\n", usual, long)
	if len(usual) != 1 || !usual["TestB"] || len(long) != 2 || !long["TestA"] || !long["TestC"] {
		t.Errorf("usual %v, long %v", usual, long)
	}
}

var asksEffort = regexp.MustCompile(`"HOLDFAST_(?:LONG|SOAK)"`)

// How long tests take is asked in one place, or make test-long would miss some.
func TestEffortIsAskedInOnePlace(t *testing.T) {
	for name, text := range files.EndingIn(t, ".go") {
		if asksEffort.MatchString(text) && !regexp.MustCompile(`^internal/(effort|runtests|docs)/`).MatchString(name) {
			t.Errorf("%s asks the environment how long tests may take; use internal/effort", name)
		}
	}
}
