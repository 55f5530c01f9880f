package holdfastvet_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

// samples are the packages in testdata, each with the check that is tried on it.
var samples = map[string]*analysis.Analyzer{
	"lockctx":           holdfastvet.LockCtx,
	"lostrelease":       holdfastvet.LostRelease,
	"lostreleasetests":  holdfastvet.LostRelease,
	"releaseerr":        holdfastvet.ReleaseErr,
	"releaseerrdefer":   holdfastvet.ReleaseErr,
	"writewithouttoken": holdfastvet.WriteWithoutToken,
}

// trial tries on each sample what it is a sample of. Several at once cost little more than one: what takes time is the
// standard library, which is looked at for each trial.
var trial = &analysis.Analyzer{
	Name:     "trial",
	Doc:      "try each check on its sample",
	Requires: []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer}, // what any of them requires
	Run:      try,
}

func try(pass *analysis.Pass) (any, error) {
	if check, ok := samples[pass.Pkg.Path()]; ok {
		return check.Run(pass)
	}
	return nil, nil // it is the program that runs the tests of one
}

func TestChecks(t *testing.T) {
	set(t, holdfastvet.WriteWithoutToken, "funcs", "writewithouttoken.put, (*writewithouttoken.store).put")
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), trial,
		"lockctx", "lostrelease", "releaseerr", "writewithouttoken")
}

// What a check looks at only when it is asked to is found then.
func TestWhatIsOptional(t *testing.T) {
	set(t, holdfastvet.LostRelease, "tests", "true")
	set(t, holdfastvet.ReleaseErr, "defer", "true")
	analysistest.Run(t, analysistest.TestData(), trial, "lostreleasetests", "releaseerrdefer")
}

// set sets a flag of a check for the time of a test.
func set(t *testing.T, check *analysis.Analyzer, name, value string) {
	t.Helper()
	before := check.Flags.Lookup(name).Value.String()
	if err := check.Flags.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check.Flags.Set(name, before) })
}

// Gofmt takes out brackets without results, so they cannot be in testdata; programs have them all the same.
func TestNoResultsInBrackets(t *testing.T) {
	const likeness = "github.com/holdfast-go/holdfast/holdfast.go"
	holdfast, err := os.ReadFile(filepath.Join(analysistest.TestData(), "src", likeness))
	if err != nil {
		t.Fatal(err)
	}
	folder, remove, err := analysistest.WriteFiles(map[string]string{
		likeness: string(holdfast),
		"brackets/brackets.go": `package brackets

import (
	"context"

	"github.com/holdfast-go/holdfast"
)

func release(ctx context.Context, lease *holdfast.Lease) () { lease.Release(ctx) }
`})
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	analysistest.Run(t, folder, holdfastvet.ReleaseErr, "brackets")
}
