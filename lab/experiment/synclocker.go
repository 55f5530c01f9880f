package experiment

import (
	"sync"

	"github.com/holdfast-go/holdfast"
)

// syncLocker is a lock of Holdfast for who wants a sync.Locker, from a client of its own.
func syncLocker(s *Trial, url string, opts ...holdfast.Option) sync.Locker {
	m := s.Client(url, opts...).Mutex("contested")
	return holdfast.SyncLocker(m, func(err error) { s.Result(true, "the lock was lost: %v", err) })
}
