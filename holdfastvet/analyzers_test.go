package holdfastvet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

func TestLockCtx(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), holdfastvet.LockCtx, "lockctx")
}

func TestLostRelease(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), holdfastvet.LostRelease, "lostrelease")
}
