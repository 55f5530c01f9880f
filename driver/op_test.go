package driver

import (
	"errors"
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	set := KindsOf(OpRequest, OpRelease, OpLife)
	for k := OpRequest; k <= OpLife; k++ {
		if want := k == OpRequest || k == OpRelease || k == OpLife; set.Has(k) != want {
			t.Errorf("%v is in the set: %v, want %v", k, !want, want)
		}
		if name := k.String(); name == "" || strings.HasPrefix(name, "kind") {
			t.Errorf("kind %d has no name", k)
		}
		if want := k != OpValue && k != OpQueue && k != OpWatch && k != OpLife; k.IsOnClaim() != want {
			t.Errorf("%v is on a claim: %v, want %v", k, !want, want)
		}
	}
	for _, k := range []Kind{0, OpLife + 1} {
		if !strings.HasPrefix(k.String(), "kind ") || k.IsOnClaim() || set.Has(k) {
			t.Errorf("%v is not a kind", k)
		}
	}
}

// A caller that knows nothing of batches may send the operation again, as after any ErrUnsent.
func TestRejectedBatchIsUnsent(t *testing.T) {
	if !errors.Is(ErrBatchRejected, ErrUnsent) || IsAnswer(ErrBatchRejected) || errors.Is(ErrUnsent, ErrBatchRejected) {
		t.Error("ErrBatchRejected must match ErrUnsent, and not the other way round")
	}
}
