package holdfast

import "testing"

// A context may still carry a lease whose lock is being given back by another goroutine: that one is not counted again.
func TestGrantThatEndsIsNotCountedAgain(t *testing.T) {
	g := &grant{}
	first := g.lease(t.Context(), nil)
	second := g.lease(t.Context(), nil)
	if first == nil || second == nil {
		t.Fatal("a grant that is held is not counted")
	}
	g.giveUp(first)
	if last, err := g.giveUp(second); !last || err != nil || g.lease(t.Context(), nil) != nil {
		t.Error("a grant is counted again after its last lease was given up")
	}
	if _, ended := g.end(ErrReleased); ended {
		t.Error("a grant ended twice")
	}
}
