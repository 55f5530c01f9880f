package releaseerrdefer

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast"
)

func work(context.Context) error { return nil }

func deferred(ctx context.Context, lease *holdfast.Lease) error {
	defer lease.Release(ctx) // want `the error of a deferred Release is dropped`
	return work(lease.Context())
}

func joined(ctx context.Context, lease *holdfast.Lease) (err error) {
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	return work(lease.Context())
}

func looked(ctx context.Context, lease *holdfast.Lease) error {
	defer lease.Release(ctx)
	return errors.Join(work(lease.Context()), lease.Err())
}

func noResult(ctx context.Context, lease *holdfast.Lease) {
	defer lease.Release(ctx)
	work(lease.Context())
}
