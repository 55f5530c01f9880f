package experiment

import (
	"context"
	"errors"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// lock waits for the lock of a client of Holdfast, for somebody. What it returns ends the time in which that one
// believes to hold it.
func (s *Trial) lock(who string, c *holdfast.Client) (*holdfast.Lease, func()) {
	s.Helper()
	granted := s.Wait(who)
	lease, err := surely(s.Context(), c.Mutex("lab").Lock)
	s.Must(err)
	granted()
	return lease, s.Hold(who)
}

// try asks for the lock of a client of Holdfast, without waiting.
func (s *Trial) try(c *holdfast.Client) (lease *holdfast.Lease, ours bool) {
	s.Helper()
	lease, err := surely(s.Context(), c.Mutex("lab").TryLock)
	if errors.Is(err, holdfast.ErrNotAcquired) {
		return nil, false
	}
	s.Must(err)
	return lease, true
}

// surely acquires again where nobody knows what became of a request, as programs do. The first is undone by then.
func surely(ctx context.Context, acquire func(context.Context) (*holdfast.Lease, error)) (lease *holdfast.Lease,
	err error) {
	for {
		if lease, err = acquire(ctx); !errors.Is(err, holdfast.ErrUnknown) || ctx.Err() != nil {
			return lease, err
		}
	}
}

// syncLocker is a lock of Holdfast for who wants a sync.Locker, from a client of its own.
func syncLocker(s *Trial, url string, opts ...holdfast.Option) sync.Locker {
	m := s.Client(url, opts...).Mutex("contested")
	return holdfast.SyncLocker(m, func(err error) { s.Result(true, "the lock was lost: %v", err) })
}
