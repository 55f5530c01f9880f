package driver

import (
	"errors"
	"fmt"
)

// Errors that say how a request ended. Drivers return them, or wrap them.
var (
	// ErrGone says that the claim is not, or is no longer, in the queue, or not under this token.
	ErrGone = errors.New("claim is gone")
	// ErrUnknown says that the outcome cannot be known.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnsent says that the request has had no effect and never will: it has not left the client, for example
	// because there was no connection in time, or the server answered that it cannot do it now (see [NotNow]).
	// Asking again may help. A driver returns it only if it is sure.
	ErrUnsent = errors.New("request not sent")
	// ErrBatchRejected says that the engine refused a batch for the sake of one of its operations, and did
	// nothing: each has to be sent alone. It matches ErrUnsent. It is never the result of an operation that was
	// sent alone.
	ErrBatchRejected = fmt.Errorf("%w: the engine rejected its batch", ErrUnsent)
	// ErrRefused says that the server answered no: nothing was changed and asking again will not help. Examples: a
	// wrong password, a key of another type, a record in a newer format.
	ErrRefused = errors.New("refused by the backend")
	// ErrInvalidName says that a lock cannot have this name on this backend.
	ErrInvalidName = errors.New("invalid lock name")
	// ErrNotAcquired says that a lock is taken. A Driver never returns it, because that is a Status; it is for
	// locks that are not claims, such as those of sqllock.InTx.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrClosed says that the driver was closed. What a call in progress has changed is unknown, unless the
	// error also matches ErrUnsent. Every driver returns this error, so that callers can tell.
	ErrClosed = errors.New("the driver is closed")
)

// IsAnswer reports whether err is the backend's answer to a request, so that repeating the request would not
// change it: nil, or an error that matches [ErrGone], [ErrRefused], [ErrInvalidName] or
// [errors.ErrUnsupported]. After any other error the request may have been applied, and may be repeated. That
// includes [ErrUnknown], by which a driver says that it cannot tell: whether to repeat the request then depends
// on what the request was.
func IsAnswer(err error) bool {
	return err == nil || errors.Is(err, ErrGone) || errors.Is(err, ErrRefused) ||
		errors.Is(err, ErrInvalidName) || errors.Is(err, errors.ErrUnsupported)
}
