package fence_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/memlock"
)

// A leader that learns from the resource that it does not lead any more is a candidate again.
func TestStaleLeaderCampaignsAgain(t *testing.T) {
	ctx, engine := t.Context(), memlock.New()
	candidate, other := holdfast.New(engine), holdfast.New(engine)
	defer candidate.Close(ctx)
	defer other.Close(ctx)
	var seen fence.Register
	terms := 0
	err := candidate.Election("boss").Run(ctx, "", func(ctx context.Context, l *holdfast.Lease) error {
		if terms++; terms == 1 {
			queue, err := other.Queue(ctx, "boss")
			if err != nil {
				return err
			}
			if err := other.Break(ctx, "boss", queue[0].ID); err != nil {
				return err
			}
			next, err := other.Mutex("boss").Lock(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
			defer next.Release(context.WithoutCancel(ctx))
			if err := seen.Do("r", next.Token(), func() error { return nil }); err != nil {
				return err
			}
		}
		return seen.Do("r", l.Token(), func() error { return nil })
	})
	if err != nil || terms != 2 {
		t.Errorf("%d terms, then %v", terms, err)
	}
}
