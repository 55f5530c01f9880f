package holdfastvet_test

import (
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
