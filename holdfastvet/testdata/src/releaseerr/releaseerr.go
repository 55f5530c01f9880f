package releaseerr

import (
	"context"

	"github.com/holdfast-go/holdfast"
)

func work(context.Context) error { return nil }

type service struct{ lease *holdfast.Lease }

func dropped(ctx context.Context, lease *holdfast.Lease) error {
	if err := work(lease.Context()); err != nil {
		lease.Release(ctx) // a failure is reported in any case
		return err
	}
	lease.Release(ctx) // want `the error of Release says whether the lock was held until now`
	return nil
}

func severalResults(ctx context.Context, leases holdfast.Leases) (int, error) {
	leases.Release(ctx) // want `the error of Release`
	n := 1
	return n, nil
}

func inBranch(ctx context.Context, s *service) error {
	if s.lease != nil {
		s.lease.Release(ctx) // want `the error of Release`
		return nil
	}
	return work(ctx)
}

func inClosure(ctx context.Context, lease *holdfast.Lease) {
	_ = func() error {
		lease.Release(ctx) // want `the error of Release`
		return nil
	}
}

func returned(ctx context.Context, lease *holdfast.Lease) error {
	return lease.Release(ctx)
}

func deferred(ctx context.Context, lease *holdfast.Lease) error {
	defer lease.Release(ctx)
	return work(lease.Context())
}

func onPurpose(ctx context.Context, lease *holdfast.Lease) error {
	_ = lease.Release(ctx)
	return nil
}

func lookedBefore(ctx context.Context, lease *holdfast.Lease) error {
	if err := lease.Err(); err != nil {
		return err
	}
	lease.Release(ctx)
	return nil
}

func lookedAtField(ctx context.Context, s *service) error {
	if err := s.lease.Check(ctx); err != nil {
		return err
	}
	s.lease.Release(ctx)
	return nil
}

func noResult(ctx context.Context, lease *holdfast.Lease) {
	lease.Release(ctx)
}

func goesOn(ctx context.Context, lease *holdfast.Lease) error {
	lease.Release(ctx)
	return work(ctx)
}

func noError(ctx context.Context, lease *holdfast.Lease) *service {
	lease.Release(ctx)
	return nil
}
