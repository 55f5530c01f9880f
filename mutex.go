package holdfast

import "context"

// A Mutex is a lock that one holder has at a time. It is only a description: making one does no I/O, and all mutexes of
// the same name on the same backend are the same lock. It shares its queue with the RWMutex and the Semaphore of that
// name.
type Mutex struct{ lock }

// Mutex describes the mutex with this name. Any bytes are a name.
func (c *Client) Mutex(name string, opts ...Option) *Mutex {
	return &Mutex{c.lock(name, opts)}
}

var alone = ask{kind: "mutex", mode: exclusive, weight: 1, limit: 1}

// Lock waits for the lock. ctx bounds the wait only, never the hold. If ctx ends first, the error matches
// ErrNotAcquired and the context's cause. If an answer of the backend is missing then, it matches ErrUnknown and the
// cause, and ErrUnavailable if Lock has waited for that answer. [WithPatience] says how long an outage Lock outlasts.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, alone, true) }

// TryLock acquires the lock if that needs no wait; otherwise the error matches ErrNotAcquired. If the backend does not
// answer, it gives up after two attempts, which take at most about six seconds.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, alone, false) }

// Do waits for the lock, calls fn, and releases the lock however fn ends. The context of fn ends with ctx or with the
// lease. Do returns what fn returned, joined with the error of the release: work done under a lost lock is never
// reported as a success.
func (m *Mutex) Do(ctx context.Context, fn func(ctx context.Context, l *Lease) error) error {
	return m.do(ctx, alone, fn)
}
