package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// isPassing reports whether a backend may serve us soon though it has just failed: its server said "not now", as one
// does that is full or still starting, or nothing listens at its address yet. A host name that the resolver does not
// know, a certificate or a password does not mend itself. Silence does not count either, because that is how a wrong
// address and a firewall behave.
func isPassing(err error) bool {
	if err == nil || driver.IsAnswer(err) {
		return false
	}
	if server, ok := errors.AsType[*driver.ServerError](err); ok {
		return server.Effect == driver.NotNow
	}
	return isUnattended(err)
}

// wsaRefused is WSAECONNREFUSED, which package syscall does not define.
const wsaRefused = syscall.Errno(10061)

// isUnattended reports whether an error says that nothing listens at an address: a connection was refused, or the
// socket of a server is not there. Of what gRPC has met there is only a text.
func isUnattended(err error) bool {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaRefused) ||
		strings.Contains(err.Error(), ": connect: connection refused") {
		return true
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && dial.Op == "dial" && dial.Net == "unix" && errors.Is(dial, fs.ErrNotExist)
}

// isPassingRequest is isPassing for a backend that was opened, and so has served us before. What it was not sent then
// may be sent later, unless it was silent.
func isPassingRequest(err error) bool {
	return isPassing(err) ||
		errors.Is(err, driver.ErrUnsent) && !driver.IsAnswer(err) && !errors.Is(err, os.ErrDeadlineExceeded) &&
			!errors.Is(err, context.DeadlineExceeded)
}

// Bounds of the pauses between two attempts to use a backend that may serve us soon. A server that is full is not
// helped by clients that ask all the time.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// untilServed repeats an attempt that fails for a reason that may pass. It waits for the backend as for the lock: for
// --wait, or until a signal comes. The first failure is reported.
func untilServed[T any](
	ctx context.Context, a *app, p *plan, inbox *inbox, passes func(error) bool, attempt func() (T, error),
) (T, error) {
	pace, begin := driver.Backoff{First: firstRetry, Most: lastRetry}, time.Now()
	for last := error(nil); ; {
		v, err := attempt()
		switch {
		case err == nil || p.noWait:
			return v, err
		case passes(err):
		case last != nil && p.isOver(): // the attempt was cut short
			err = last
		default:
			return v, err
		}
		if last == nil {
			p.waitFrom(begin)
			a.tellNotServed(p, err)
		}
		last = err
		if ended := p.pause(ctx, &pace, inbox, err); ended != nil {
			return v, ended
		}
	}
}

// errOverdue is why an attempt was cut short.
var errOverdue = errors.New("--wait is over")

// pause waits for the next attempt. It returns why there is none: a signal came, or --wait is over.
func (p *plan) pause(ctx context.Context, pace *driver.Backoff, inbox *inbox, failed error) error {
	waiting, done := p.patience(inbox.until(ctx))
	err := pace.Pause(waiting)
	done()
	if i, ok := errors.AsType[*interrupt](context.Cause(waiting)); ok {
		return ended(i.code())
	}
	if err != nil && p.wait > 0 {
		return &exit{code: exitUnavailable, err: &remark{bare(failed), fmt.Sprintf("it was still so after %v", p.wait)}}
	}
	if err != nil {
		return failed
	}
	return nil
}

// tellNotServed says that the backend is waited for, and why.
func (a *app) tellNotServed(p *plan, failed error) {
	if p.quiet {
		return
	}
	limit := "until it serves us"
	if p.wait > 0 {
		limit = fmt.Sprintf("for up to %v", p.wait)
	}
	a.warn(&remark{bare(failed), "waiting " + limit})
}

// bare is an error without advice, which is not to ask whether a server runs for which this command waits.
func bare(err error) error {
	if e, ok := errors.AsType[*exit](err); ok && e.err != nil {
		return e.err
	}
	return err
}

// A remark is an error with what follows from it, in the place of the question whether the server runs.
type remark struct {
	error
	says string
}

func (r *remark) Error() string {
	s := r.error.Error()
	if at := strings.LastIndex(s, "; "); at > 0 && strings.HasSuffix(s, "?") {
		s = s[:at]
	}
	return s + "; " + r.says
}

func (r *remark) Unwrap() error { return r.error }
