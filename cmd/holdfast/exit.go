package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/holdfast-go/holdfast"
)

// Exit codes, those of sysexits.h where it has one.
const (
	exitFailure     = 1   // any other error
	exitUsage       = 64  // the command line is wrong
	exitUnavailable = 69  // the backend cannot be reached, or refuses
	exitConflict    = 75  // the lock was not acquired; -E changes it
	exitLost        = 76  // the lock was lost while the command ran
	exitUnstopped   = 77  // it was lost, and the command could not be stopped
	exitCannotRun   = 126 // the command was found, and cannot be run
	exitNotFound    = 127 // the command was not found
	exitSignal      = 128 // and the number of the signal
)

// What the help says about exit codes, a line for each.
const (
	helpCodes       = "Exit codes:"
	helpCommand     = "\n  the command's own; 128+n when signal n ended it, or ended the wait"
	helpSignal      = "\n  128+n when signal n ended it"
	helpFailure     = "\n  1    any other error"
	helpUsage       = "\n  64   the command line is wrong, or asks for what the backend cannot do"
	helpUnavailable = "\n  69   the backend cannot be reached, or refuses"
	helpConflict    = "\n  75   the lock was not acquired in time (-E sets another code)"
	helpLost        = "\n  76   the lock was lost while the command ran"
	helpUnstopped   = "\n  77   the lock was lost, and the command could not be stopped: it ran on without it"
	helpCannotRun   = "\n  126  the command cannot be run"
	helpNotFound    = "\n  127  the command was not found"
)

const (
	// exitHelp is for verbs that look at the backend, or change it, and are done.
	exitHelp = helpCodes + helpFailure + helpUsage + helpUnavailable
	// runExitHelp is for run.
	runExitHelp = helpCodes + helpCommand + helpFailure + helpUsage + helpUnavailable +
		helpConflict + helpLost + helpUnstopped + helpCannotRun + helpNotFound
)

// An exit is an error that knows the exit code. Without an error it is silent.
type exit struct {
	code   int
	err    error
	advice string // what the user can do about it, unless err says so

	holders []claim // for --json, where others have the lock
}

func (e *exit) Error() string {
	switch {
	case e.err == nil:
		return fmt.Sprintf("exit code %d", e.code)
	case e.advice != "":
		return e.err.Error() + "; " + e.advice
	default:
		return e.err.Error()
	}
}

func (e *exit) Unwrap() error { return e.err }

// usage is the error for a wrong command line. It says what to do.
func usage(format string, args ...any) error {
	return &exit{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// fail is the error for what went wrong otherwise.
func fail(format string, args ...any) error {
	return &exit{code: exitFailure, err: fmt.Errorf(format, args...)}
}

// unavailable is the error for a backend that does not serve us.
func unavailable(err error) *exit {
	e := &exit{code: exitUnavailable, err: err}
	switch {
	case isForeign(err):
		e.advice = "what answers speaks another protocol; check the scheme and the port"
	case isHangUp(err):
		e.advice = "what answers closed the connection: is the port right, and is a server behind it?"
	case strings.HasSuffix(err.Error(), context.DeadlineExceeded.Error()): // and no word of what it was waited for
		e.advice = "it did not answer in time; " + askReachable
	case isOfNetwork(err) && !strings.HasSuffix(err.Error(), "?"): // some drivers ask by themselves
		e.advice = askReachable
	}
	return e
}

// askReachable is what to ask about a backend that cannot be reached.
const askReachable = "is the server running, and reachable from here?"

// isOfNetwork reports whether an error came from a connection, or from the lack of one.
func isOfNetwork(err error) bool {
	var network net.Error
	if !errors.As(err, &network) {
		return false
	}
	_, ofFile := network.(syscall.Errno) // it passes for a net.Error, and those of connections wrap it
	return !ofFile
}

// ended is the silent end with an exit code.
func ended(code int) error {
	if code == 0 {
		return nil
	}
	return &exit{code: code}
}

// failed gives an error of the library its exit code. What the backend or the arguments make impossible is a matter of
// usage: asking again does not help.
func failed(err error) error {
	var known *exit
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, holdfast.ErrInvalidName), errors.Is(err, errors.ErrUnsupported):
		return &exit{code: exitUsage, err: err}
	default:
		return unavailable(err)
	}
}

// unwritten gives an error of writing standard output its exit code, or returns nil if err is none. A reader that is
// gone ends the command without a word, as SIGPIPE does where it is not caught.
func (a *app) unwritten(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok || failed.Op != "write" || failed.Path != a.out.Name():
		return nil
	case errors.Is(failed, syscall.EPIPE):
		return ended(exitSignal + int(syscall.SIGPIPE))
	default:
		return fail("%w", err)
	}
}
