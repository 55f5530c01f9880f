package template

import (
	"context"
	"errors"
	"iter"
	"time"
)

// A Store is what the driver needs of an engine. All methods are safe for concurrent use.
//
// An error that matches driver.ErrRefused says that the store will never do this: a right is missing, or the data are
// too long. One that matches driver.ErrUnsent says that the call surely had no effect. After any other error but
// ErrConflict a Put may have been done, or may still be. So no client library may repeat a write by itself.
type Store interface {
	// Get reads a key as the last write left it. A copy that may lag behind is not good enough.
	Get(ctx context.Context, key string) (Record, error)
	// Put writes a key in one atomic step if it has this revision; otherwise the error is ErrConflict. The store
	// removes the key when that long has passed since its last write, or later, never sooner.
	Put(ctx context.Context, key, revision string, data []byte, keep time.Duration) error
	// Watch has changed called with a key as it is, and after changes, until stop is called. Several changes may be
	// told as one, and late; the last is told in the end, also after a connection was lost. The calls come one after
	// the other, and none from within Watch or stop, which do not wait for one: the caller may hold a lock.
	Watch(key string, changed func(Record)) (stop func())
	// Keys yields the keys that begin with prefix.
	Keys(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// A Record is what the store has under a key.
type Record struct {
	Data []byte // what was put
	// Revision is another one after each write, and never one that the key had before, even if it was removed in
	// between. It is empty if there is no such key.
	Revision string
	// Now is what the store's clock showed after the call began, and not after the data were read.
	Now time.Time
}

// ErrConflict is the error of a Put that was not done because the key has another revision.
var ErrConflict = errors.New("the key has been written since it was read")
