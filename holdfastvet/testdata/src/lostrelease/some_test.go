package lostrelease

import (
	"context"

	"github.com/holdfast-go/holdfast"
)

func inTest(ctx context.Context, m *holdfast.Mutex) {
	_, err := m.TryLock(ctx)
	keep(err)
}
