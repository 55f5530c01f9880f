package flashsale

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/testbed"

	// What Holdfast can keep its locks in.
	_ "github.com/holdfast-go/holdfast/etcdlock"
	_ "github.com/holdfast-go/holdfast/memlock"
	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
	_ "github.com/holdfast-go/holdfast/sqllock"
	_ "github.com/holdfast-go/holdfast/zklock"
)

// guard runs fn while nobody else that the lock reaches runs it.
type guard interface {
	Do(ctx context.Context, fn func(ctx context.Context) error) error
	Close(ctx context.Context) error
}

func (o Order) guard(ctx context.Context) (guard, error) {
	switch o.Lock {
	case NoLock:
		return anarchy{}, nil
	case Local:
		return new(local), nil
	case Holdfast:
		client, err := holdfast.Open(ctx, o.URL, holdfast.WithTTL(testbed.TTL))
		if err != nil {
			return nil, err
		}
		return shared{client, client.Mutex("stock/1")}, nil
	}
	return nil, fmt.Errorf("nobody knows the lock %q; there are none, local and holdfast", o.Lock)
}

// anarchy keeps nobody apart.
type anarchy struct{}

func (anarchy) Do(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }
func (anarchy) Close(context.Context) error                                  { return nil }

// local keeps the goroutines of one process apart.
type local struct{ mu sync.Mutex }

func (l *local) Do(ctx context.Context, fn func(context.Context) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fn(ctx)
}

func (*local) Close(context.Context) error { return nil }

// shared keeps all processes apart.
type shared struct {
	client *holdfast.Client
	mutex  *holdfast.Mutex
}

func (s shared) Do(ctx context.Context, fn func(context.Context) error) error {
	return s.mutex.Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error { return fn(ctx) })
}

func (s shared) Close(ctx context.Context) error { return s.client.Close(ctx) }
