package zklock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/leasedtest"
)

func TestTwoVersions(t *testing.T) {
	t.Parallel()
	leasedtest.TwoVersions(t, engine)
}

func TestMuchNewerVersion(t *testing.T) {
	t.Parallel()
	leasedtest.MuchNewerVersion(t, engine)
}
