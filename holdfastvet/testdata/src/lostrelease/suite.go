package lostrelease

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
)

// What tests use is a test, too.
func refuses(t *testing.T, m *holdfast.Mutex) {
	if _, err := m.TryLock(context.Background()); err == nil {
		t.Error("acquired")
	}
}
