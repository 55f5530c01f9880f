package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

const runHelp = `Run takes the lock, runs the command, and releases the lock when the command exits.

Run starts the command without a shell, in its own process group, with the standard input, output and error of holdfast.
It forwards the signals INT, TERM, HUP, QUIT, USR1 and USR2 to the command. The environment of the command contains
HOLDFAST_NAME, HOLDFAST_OWNER, and HOLDFAST_TOKEN, the fencing token, which is greater than that of every earlier
holder. On Linux the command dies with holdfast, whatever kills holdfast.

Run renews the lock while the command runs. If the lock is lost nevertheless, the command and all processes that it
started get TERM, and KILL after the grace period. If the backend does not answer, this happens early enough that none
of these processes is alive when somebody else gets the lock. A guard process ensures the same when holdfast itself is
stopped. If the guard cannot start, the command does not run, unless --no-guard is given. With the default --ttl of 15s
and --grace of 3s, TERM comes 6 to 11 s after the backend went away.

With --at-least the lock stays taken until that time is over, counted from the grant. Backends that can keep a lock for a
process that has ended do so, and run exits at once; otherwise run exits when the time is over, or after INT, TERM or
QUIT, whether the signal came before the command had ended or later.

Run waits for a backend that is full, still starting, or does not listen yet, as for a lock that is held, and says so.
If the backend does not answer within 3 s at the start, run exits with 69. Once run waits for the lock, an outage ends
the wait only when --wait is over.

` + runExitHelp

// runVerb is holdfast run.
func (a *app) runVerb() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] NAME -- COMMAND [ARG...]",
		Short: "Run a command under a lock",
		Long:  runHelp,
		Example: `  holdfast run -n backup -- ./backup.sh                     exit with 75 if it is already running
  holdfast run -w 1m --slots 3 encode -- ./encode a.mkv     three at a time; wait for at most a minute
  holdfast run -n --at-least 5m mail -- ./mail.sh           once every five minutes, whatever the clocks say
  holdfast run --shell deploy -- 'git pull && make'         run by a shell`,
		ValidArgsFunction: a.completeCommand,
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.plan(c, args)
			if err != nil {
				return err
			}
			return a.runPlan(c.Context(), p)
		},
	}
	a.backend.register(c)
	f.register(c)
	return c
}

// runPlan does what the command line asks for.
func (a *app) runPlan(ctx context.Context, p *plan) error {
	program, err := p.findProgram()
	if err != nil {
		return err
	}
	inbox := catchSignals()
	s, err := a.openFor(ctx, p, inbox)
	if err != nil {
		return err
	}
	a.tellReach(p)
	for acquire := a.acquireFirst; ; acquire = a.acquireAgain {
		lease, err := acquire(ctx, s, p, inbox)
		if err != nil {
			s.abandon(ctx)
			return err
		}
		j := &job{app: a, plan: p, store: s, lease: lease, inbox: inbox, since: time.Now()}
		if err = j.run(ctx, program); !j.again {
			return err
		}
	}
}

// acquireFirst is acquire for a command that has not run yet. It waits for a backend that is full, or just starting,
// like openFor. A candidate that has a place in the line stays a candidate, whatever takes that place from it.
func (a *app) acquireFirst(ctx context.Context, s *store, p *plan, inbox *inbox) (*holdfast.Lease, error) {
	lease, err := untilServed(ctx, a, p, inbox, isPassingRequest, func() (*holdfast.Lease, error) {
		return a.acquire(ctx, s, p, inbox)
	})
	if p.campaign && isOutOfLine(err) {
		if err := a.outlast(ctx, err, inbox); err != nil {
			return nil, err
		}
		return a.acquireAgain(ctx, s, p, inbox)
	}
	return lease, err
}

// openFor connects to the backend with what the plan wants of all claims. It waits for one that is full, or just
// starting, unless the plan does not wait. A signal ends that.
func (a *app) openFor(ctx context.Context, p *plan, inbox *inbox) (*store, error) {
	defer actAsMain(ctx)()
	return untilServed(ctx, a, p, inbox, isPassing, func() (*store, error) {
		return a.openOnce(ctx, p, inbox)
	})
}

// openOnce makes one attempt. One that follows another ends when --wait is over.
func (a *app) openOnce(ctx context.Context, p *plan, inbox *inbox) (*store, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if !p.deadline.IsZero() {
		defer time.AfterFunc(time.Until(p.deadline), func() { giveUp(errOverdue) }).Stop()
	}
	opening, done := inbox.until(ctx)
	s, err := aside(opening, func() (*store, error) {
		return a.backend.open(opening, holdfast.WithTTL(p.ttl), holdfast.WithOwner(p.label()),
			holdfast.WithMinHold(p.atLeast))
	})
	done()
	cause := context.Cause(opening)
	if i, ok := errors.AsType[*interrupt](cause); ok {
		return nil, ended(i.code())
	}
	if err != nil {
		return nil, err
	}
	if err := p.suits(s.driver.Traits()); err != nil {
		s.abandon(ctx)
		return nil, err
	}
	return s, nil
}
