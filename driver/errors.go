package driver

import "errors"

// Errors that say what became of a request. Drivers wrap them or return them as they are.
var (
	// ErrGone says that the claim is not in the queue (any more), or not under this token.
	ErrGone = errors.New("claim is gone")
	// ErrUnknown says that the outcome cannot be known.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnsent says that the request has not left the client, as when there is no connection, or none in time: nothing
	// was changed, and it will never arrive. Asking again may help. A driver returns it where it is sure.
	ErrUnsent = errors.New("request not sent")
	// ErrRefused says that the server answered no: nothing was changed and asking again will not help. Examples: a
	// wrong password, a key of another type, a record in a newer format.
	ErrRefused = errors.New("refused by the backend")
	// ErrInvalidName says that a lock cannot have this name on this backend.
	ErrInvalidName = errors.New("invalid lock name")
	// ErrNotAcquired says that a lock is taken. A Driver never returns it, because that is a Status; it is for locks
	// that are not claims, such as those of sqllock.InTx.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrClosed says that the driver was closed. What a call that was under way has changed is unknown, unless the
	// error also matches ErrUnsent. Every driver returns this one, so that callers of any can tell.
	ErrClosed = errors.New("the driver is closed")
)

// IsAnswer reports whether err is what the backend said about a request, so that repeating the request would not
// change it: nil, or an error that matches [ErrGone], [ErrRefused], [ErrInvalidName] or [errors.ErrUnsupported].
// After any other error the request may have been applied, and may be repeated. That includes [ErrUnknown], by which
// a driver says that it cannot tell: whether to repeat the request then depends on what the request was.
func IsAnswer(err error) bool {
	return err == nil || errors.Is(err, ErrGone) || errors.Is(err, ErrRefused) ||
		errors.Is(err, ErrInvalidName) || errors.Is(err, errors.ErrUnsupported)
}
