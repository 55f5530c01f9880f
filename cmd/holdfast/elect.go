package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

const electHelp = `Elect campaigns until it leads, and runs the command while it leads. There is one leader at a time; the others wait
in line.

When the command exits, elect resigns and exits with the code of the command. When it loses the lead, it ends the
command as run does (TERM, then KILL after the grace period), campaigns again, and starts the command again.

Others see the --value of the leader, such as its address; holdfast leader prints it. The command gets the same
environment variables as under run.

` + helpCodes + helpCommand + helpFailure + helpUsage + helpUnavailable + `
  76   the lead was lost while the command was ending` + helpUnstopped + helpCannotRun + helpNotFound

// electVerb is holdfast elect.
func (a *app) electVerb() *cobra.Command {
	var (
		f     = runFlags{onLost: lostTerm, slots: 1, conflict: exitConflict}
		value string
	)
	c := &cobra.Command{
		Use:   "elect [flags] NAME -- COMMAND [ARG...]",
		Short: "Run a command while leading",
		Long:  electHelp,
		Example: `  holdfast elect --value $HOSTNAME:8080 scheduler -- ./scheduler    one leader at a time; the next in line takes over
  holdfast leader scheduler                                         who is it?`,
		ValidArgsFunction: a.completeCommand,
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.plan(c, args)
			if err != nil {
				return err
			}
			if p.onLost == lostIgnore {
				return usage("--on-lost must be term or kill: a command that does not lead must not run on")
			}
			p.campaign, p.value = true, value
			return a.runPlan(c.Context(), p)
		},
	}
	a.backend.register(c)
	f.registerCommon(c)
	c.Flags().StringVar(&f.onLost, "on-lost", lostTerm,
		"what to do with the command when the lead is lost: term or kill")
	completeFlag(c, "on-lost", lostTerm, lostKill)
	c.Flags().StringVar(&value, "value", "", "text about the leader that others see, such as its address")
	return c
}

// runsAgain reports whether the command is to be started anew, once we lead again: the lead was lost, nothing of the
// command lives, and nobody asked it to end.
func (j *job) runsAgain() bool {
	if !j.plan.campaign || j.lost == nil || j.told {
		return false
	}
	if j.child == nil { // it did not begin
		return true
	}
	return j.child.HasGone()
}

// campaignPause is the time between two campaigns while the backend does not serve us.
const campaignPause = time.Second

// acquireAgain is acquire for a candidate that has led, or stood in line, before: it stays one while the backend is
// away or refuses, as [holdfast.Election.Run] does.
func (a *app) acquireAgain(ctx context.Context, s *store, p *plan, inbox *inbox) (*holdfast.Lease, error) {
	for {
		lease, err := a.acquire(ctx, s, p, inbox)
		if err == nil {
			return lease, nil
		}
		if err := a.outlast(ctx, err, inbox); err != nil {
			return nil, err
		}
	}
}

// isOutOfLine reports whether a claim stood in line, and lost its place: the backend refused it, or somebody broke it.
func isOutOfLine(err error) bool {
	return errors.Is(err, holdfast.ErrOutOfLine) || errors.Is(err, holdfast.ErrBroken)
}

// outlast pauses before the next campaign where the last failed because the backend is away, or because somebody broke
// its claim, and returns nil. It returns why not to try again otherwise, or when a signal comes.
func (a *app) outlast(ctx context.Context, failed error, inbox *inbox) error {
	if e, ok := errors.AsType[*exit](failed); !ok || e.code != exitUnavailable && !isOutOfLine(e) {
		return failed
	}
	if a.hasTold() { // else nobody reads, and the next would wait for ever, too
		a.warnAside(failed)
	}
	pausing, done := inbox.until(ctx)
	err := driver.Sleep(pausing, campaignPause)
	done()
	if i, ok := errors.AsType[*interrupt](context.Cause(pausing)); ok {
		return ended(i.code())
	}
	if err != nil {
		return failed
	}
	return nil
}

// noteAsked notes whether a signal asks the command to end. Of HUP that is not known: many programs read their
// configuration anew. Those that live on for the grace do.
func (j *job) noteAsked(s os.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT:
		j.told, j.signal = true, s
	case syscall.SIGHUP:
		j.hungUp = time.Now()
		j.told = j.told || j.lost != nil
	}
}
