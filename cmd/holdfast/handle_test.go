package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/memlock"
)

// However long the lock of a handle lives, a release waits no longer for a backend that falls silent than each verb
// does when it begins.
func TestReleaseOfAHandleInSilence(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		d := silentTo(memlock.New(), func(op driver.Op) bool { return op.Kind == driver.OpRelease })
		s := &store{Client: holdfast.New(d, ownPatience()...), driver: d}
		lease, err := s.Mutex("job", holdfast.WithTTL(time.Hour)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		handle, err := lease.Detach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = s.giveBack(t.Context(), handle)
		if took := time.Since(began); took != startLimit {
			t.Errorf("it took %v, want %v", took, startLimit)
		}
		if !errors.Is(err, holdfast.ErrUnknown) || !errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("got %v, want that the outcome is unknown, for there was no answer", err)
		}
		s.abandon(t.Context())
	})
}
