// Package holdfast has the names of the real one that the checks go by. TestRealPackage holds the checks to that.
package holdfast

import (
	"context"
	"errors"
	"time"
)

var ErrNotAcquired = errors.New("not acquired")

type Client struct{}

func (*Client) Mutex(name string) *Mutex                             { return nil }
func (*Client) Election(name string) *Election                       { return nil }
func (*Client) Resume(ctx context.Context, h string) (*Lease, error) { return nil, nil }
func (*Client) Close(ctx context.Context) error                      { return nil }

type Locker interface {
	Lock(ctx context.Context) (*Lease, error)
}

type Mutex struct{}

func (*Mutex) Do(ctx context.Context, fn func(ctx context.Context, l *Lease) error) error { return nil }
func (*Mutex) Lock(ctx context.Context) (*Lease, error)                                   { return nil, nil }
func (*Mutex) TryLock(ctx context.Context) (*Lease, error)                                { return nil, nil }

type Election struct{}

func (*Election) Run(ctx context.Context, value string, lead func(ctx context.Context, l *Lease) error) error {
	return nil
}

func (*Election) Campaign(ctx context.Context, value string) (*Lease, error) { return nil, nil }

func LockAll(ctx context.Context, locks ...Locker) (Leases, error) { return nil, nil }

func LeaseFrom(ctx context.Context) (*Lease, bool) { return nil, false }

func WithoutLease(ctx context.Context) context.Context { return ctx }

type Value struct{ Text string }

type Note struct{}

type Lease struct{}

func (*Lease) Check(ctx context.Context) error              { return nil }
func (*Lease) Context() context.Context                     { return nil }
func (*Lease) Detach(ctx context.Context) (string, error)   { return "", nil }
func (*Lease) Done() <-chan struct{}                        { return nil }
func (*Lease) Err() error                                   { return nil }
func (*Lease) Name() string                                 { return "" }
func (*Lease) Notes(ctx context.Context) ([]Note, error)    { return nil, nil }
func (*Lease) Release(ctx context.Context) error            { return nil }
func (*Lease) Revoked() <-chan struct{}                     { return nil }
func (*Lease) SetValue(ctx context.Context, s string) error { return nil }
func (*Lease) Token() uint64                                { return 0 }
func (*Lease) ValidUntil() time.Time                        { return time.Time{} }
func (*Lease) Value(ctx context.Context) (Value, error)     { return Value{}, nil }

type Leases []*Lease

func (Leases) Context() context.Context { return nil }

func (Leases) Do(ctx context.Context, fn func(ctx context.Context, ls Leases) error) error {
	return nil
}

func (Leases) Err() error                        { return nil }
func (Leases) Release(ctx context.Context) error { return nil }
func (Leases) ValidUntil() time.Time             { return time.Time{} }
