package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/holdfast-go/holdfast/driver"
)

// Errors to decide with. Those that Holdfast returns wrap them, and say which lock, which backend and what to do next.
var (
	// ErrNotAcquired says that the lock was not acquired, and that no claim waits for it. Either the lock was taken, or
	// the context of the wait ended; then the error matches the context's cause, too.
	ErrNotAcquired = driver.ErrNotAcquired
	// ErrLost says that the lease ended before it was released: what it protected may have overlapped with another
	// holder's work. The error is a *LostError.
	ErrLost = errors.New("lock lost")
	// ErrReleased says that the lease was released.
	ErrReleased = errors.New("lock released")
	// ErrDeadlock says that the context already holds this lock, so waiting for it would never end.
	ErrDeadlock = errors.New("lock is already held by this context")
	// ErrUnknown says that the request may or may not have been applied, mostly because the backend did not answer. An
	// acquisition that ends with this error is undone in the background; what cannot be undone ends with its TTL.
	ErrUnknown = driver.ErrUnknown
	// ErrUnavailable says that the backend could not be reached, did not answer, or answered with nothing but errors
	// that may pass, for as long as the call waited; the text says since when. If the outcome of a request is unknown
	// for that reason, the error matches ErrUnknown, too.
	ErrUnavailable = errors.New("backend unavailable")
	// ErrBroken says that somebody removed the claim from the queue while it waited: see [Client.Break]. The error
	// has a *BrokenError in it, and matches ErrNotAcquired, too. If a lock is broken while it is held, its holder gets
	// ErrLost.
	ErrBroken = errors.New("the claim was removed from the queue")
	// ErrOutOfLine says that a claim was queued, and gave its place up because the backend refused it, or did not
	// answer for as long as the patience lasts. A candidate may want to campaign again, as [Election.Run] does.
	ErrOutOfLine = errors.New("the place in the line is given up")
	// ErrNoLeader says that nobody leads at the moment.
	ErrNoLeader = errors.New("nobody leads")
	// ErrClosed says that the client was closed.
	ErrClosed = errors.New("client is closed")
	// ErrInvalidName says that a lock cannot have this name on this backend.
	ErrInvalidName = driver.ErrInvalidName
)

// A LostError says why a lease ended before it was released. It matches [ErrLost].
type LostError struct {
	Name   string     // of the lock
	Token  uint64     // of the lease
	Reason LostReason // how it ended
	Err    error      // why: the error of the last renewal, or what else is known; nil if nothing is
}

func (e *LostError) Error() string {
	s := "lock " + strconv.Quote(e.Name) + " lost: " + e.Reason.String() +
		" (token " + strconv.FormatUint(e.Token, 10) + ")"
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + "; stop the work it protected"
}

// Is reports whether target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

func (e *LostError) Unwrap() error { return e.Err }

// A BrokenError says who removed a claim from the queue while it waited. It matches [ErrBroken].
type BrokenError struct {
	By string // as Note.By has it; "" where it is not known
}

func (e *BrokenError) Error() string {
	if e.By == "" {
		return ErrBroken.Error()
	}
	return ErrBroken.Error() + " by " + strconv.Quote(e.By)
}

// Is reports whether target is ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// A LostReason is why a lease ended before it was released.
type LostReason int

const (
	// LostExpired: no renewal was answered in time, or this process was paused.
	LostExpired LostReason = iota
	// LostGone: the backend no longer has the claim. Somebody broke or deleted it, or the backend forgot it.
	LostGone
	// LostMaxHold: it was held for as long as WithMaxHold allows.
	LostMaxHold
)

func (r LostReason) String() string {
	switch r {
	case LostExpired:
		return "its lease ran out"
	case LostGone:
		return "the backend no longer has it"
	case LostMaxHold:
		return "it was held for the longest time allowed"
	default:
		return "LostReason(" + strconv.Itoa(int(r)) + ")"
	}
}

// failure is the error of an operation on a lock. It names the lock and the backend.
func (l *lock) failure(op string, errs ...error) error {
	return fmt.Errorf("%s %q on %s: %w", op, l.name, l.client.label, joined(errs))
}

// joined makes one error of several, on one line. What two of them say in the same words is said once.
type joined []error

func (j joined) Error() string {
	var said []string
	s := ""
	for _, err := range j {
		text := err.Error()
		if slices.Contains(said, text) {
			continue
		}
		if said = append(said, text); len(said) > 1 {
			s += separator(err)
		}
		s += text
	}
	return s
}

// separator is what comes before an error that is not the first: advice follows what it is about, and is no reason.
func separator(err error) string {
	if _, ok := err.(advice); ok {
		return "; "
	}
	return ": "
}

// advice is the part of an error that says what follows from it.
type advice string

func (a advice) Error() string { return string(a) }

func (j joined) Unwrap() []error { return j }

// notAcquired is the error for a wait that ended with its context. why may tell more about it.
func (l *lock) notAcquired(ctx context.Context, why ...error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrClosed) {
		return l.failure("lock", cause)
	}
	why = slices.DeleteFunc(why, func(err error) bool { return err == nil })
	return l.failure("lock", append([]error{ErrNotAcquired, cause}, why...)...)
}

// taken is the error for a request that would not wait.
func (l *lock) taken() error {
	return l.failure("lock", ErrNotAcquired, errors.New("it is taken; try later, or wait for it"))
}
