package holdfastvet_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

func TestLockCtx(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), holdfastvet.LockCtx, "lockctx")
}

func TestLostRelease(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), holdfastvet.LostRelease, "lostrelease")
	set(t, holdfastvet.LostRelease, "tests", "true")
	analysistest.Run(t, analysistest.TestData(), holdfastvet.LostRelease, "lostreleasetests")
}

func TestReleaseErr(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), holdfastvet.ReleaseErr, "releaseerr")
	set(t, holdfastvet.ReleaseErr, "defer", "true")
	analysistest.Run(t, analysistest.TestData(), holdfastvet.ReleaseErr, "releaseerrdefer")
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

func TestWriteWithoutToken(t *testing.T) {
	set(t, holdfastvet.WriteWithoutToken, "funcs", "writewithouttoken.put, (*writewithouttoken.store).put")
	analysistest.Run(t, analysistest.TestData(), holdfastvet.WriteWithoutToken, "writewithouttoken")
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
