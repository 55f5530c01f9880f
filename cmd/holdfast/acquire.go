package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
)

// acquire waits for the lock as the plan says. A signal ends the wait.
func (a *app) acquire(ctx context.Context, s *store, p *plan, inbox *inbox) (*holdfast.Lease, error) {
	defer actAsMain(ctx)()
	begin := time.Now()
	waiting, done := p.patience(inbox.until(ctx))
	if p.isNested(waiting, s) {
		done()
		return nil, p.nested()
	}
	hide, stop := a.showWait(waiting, s, p), a.tellLongWait(waiting, s, p)
	lease, err := p.acquire(waiting, s.Client)
	stop()
	hide()
	done()
	cause := context.Cause(waiting) // that of a signal, if one came until now
	switch {
	case err != nil:
		return nil, a.notAcquired(ctx, cause, s, p, err)
	case isInterrupt(cause): // the lock came with the signal
		_ = s.giveUp(ctx, p, lease) // otherwise closing the store gives it back
		return nil, a.notAcquired(ctx, cause, s, p, holdfast.ErrNotAcquired)
	}
	waited := time.Since(begin).Seconds()
	a.emit(event{Event: "acquired", Name: p.name, Token: decimal(lease.Token()), Owner: p.owner(), Waited: &waited})
	return lease, nil
}

// giveUp gives back a lock under which nothing was done, before --at-least is over, too: somebody else may do it. Who
// resumes a lock has no minimum hold, and where none can be resumed it ends with our connection, or its TTL.
func (s *store) giveUp(ctx context.Context, p *plan, lease *holdfast.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	switch {
	case p.atLeast == 0:
		return lease.Release(ctx)
	case !s.driver.Traits().Detach:
		s.leaves = true
		return nil
	}
	handle, err := lease.Detach(ctx)
	if err == nil {
		_, err = s.giveBack(ctx, handle)
	}
	return err
}

// notAcquired tells why there is no lock: a signal came, others have it, or the backend does not serve us. cause is
// what ended the wait, if it was ended.
func (a *app) notAcquired(ctx context.Context, cause error, s *store, p *plan, err error) error {
	if i, ok := errors.AsType[*interrupt](cause); ok {
		return ended(i.code())
	}
	broken, isBroken := errors.AsType[*holdfast.BrokenError](err)
	switch {
	case isBroken:
		return &exit{code: p.conflict, err: &removal{p.name, broken}}
	case errors.Is(err, holdfast.ErrUnavailable): // also where it is up to --wait how long that may last
		return s.failed(err)
	case errors.Is(err, holdfast.ErrNotAcquired):
		return a.conflict(ctx, s, p)
	}
	return s.failed(err)
}

// A removal is why a wait ended that somebody else has ended.
type removal struct {
	name   string
	broken *holdfast.BrokenError
}

func (r *removal) Error() string {
	return fmt.Sprintf("%s: %s removed this command from the queue", printable(r.name),
		cmp.Or(printable(r.broken.By), "somebody"))
}

func (r *removal) Unwrap() error { return r.broken }

func isInterrupt(err error) bool {
	_, ok := errors.AsType[*interrupt](err)
	return ok
}

// conflict is the error for a lock that others have, and says who; or that the backend has stopped answering. It is
// silent where a lock that is taken counts as success, so that cron sends no mail about it, and with --quiet.
func (a *app) conflict(ctx context.Context, s *store, p *plan) error {
	v, taken, err := s.whoHas(ctx, p.name)
	switch {
	case errors.Is(err, holdfast.ErrUnavailable) && p.wait > 0: // it may be free by now
		return s.failed(err)
	case !a.json && (p.quiet || p.conflict == 0):
		return &exit{code: p.conflict} // an error also where that is zero: there is no lock
	case p.wait > 0:
		taken = fmt.Sprintf("%s; it did not become free within %v", taken, p.wait)
	}
	return &exit{code: p.conflict, err: errors.New(taken), holders: v.Holders}
}

// whoHas looks at a lock that is taken, and says by whom in a sentence. That is there with an error, too.
func (s *store) whoHas(ctx context.Context, name string) (v view, says string, err error) {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	queue, err := s.Queue(ctx, name)
	v = viewOf(name, queue)
	says = printable(name) + " " + v.heldBy()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		says = printable(name) + " is taken; this backend cannot tell who has it"
	case err != nil:
		says = printable(name) + " is taken; who has it is not known: " + err.Error()
	}
	return v, says, err
}
