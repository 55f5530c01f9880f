package lostreleasetests

import (
	"context"

	"github.com/holdfast-go/holdfast"
)

func inTest(ctx context.Context, m *holdfast.Mutex) error {
	_, err := m.TryLock(ctx) // want `the lease is dropped`
	return err
}
