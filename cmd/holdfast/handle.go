package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
)

const acquireHelp = `Acquire takes the lock, prints a handle, and exits. The lock stays held for --ttl; renew starts that time again,
and release ends it. The handle contains the name of the lock, the claim and the token, but no password. Any process
that reaches the backend can use it.

If the work is a single command, use run instead: it renews the lock, and ends the command when the lock is lost.

` + helpCodes + helpSignal + helpFailure + helpUsage + helpUnavailable + helpConflict

// detachedTTL is how long a lock that nobody renews stays held, unless --ttl says otherwise.
const detachedTTL = time.Minute

// acquireVerb is holdfast acquire.
func (a *app) acquireVerb() *cobra.Command {
	f := runFlags{onLost: lostTerm, onRevoke: revokeTerm}
	c := &cobra.Command{
		Use:   "acquire [flags] NAME",
		Short: "Take a lock and print a handle to it, for scripts with several steps",
		Long:  acquireHelp,
		Example: `  handle=$(holdfast acquire --ttl 10m deploy) || exit
  ./first-step && holdfast renew "$handle" && ./second-step
  holdfast release "$handle"                    # exits with 76 if the lock was lost meanwhile`,
		ValidArgsFunction: a.completeName,
		Args:              takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p := &plan{runFlags: f, name: args[0]}
			p.noWait = f.noWait || c.Flags().Changed("wait") && f.wait == 0
			if err := f.check(c.Flags().Changed); err != nil {
				return err
			}
			return a.acquireHandle(c.Context(), p)
		},
	}
	a.backend.register(c)
	f.registerWait(c)
	durationVar(c.Flags(), &f.ttl, "ttl", "", detachedTTL, "how long the lock stays taken unless it is renewed")
	return c
}

// acquireHandle takes the lock and leaves it taken.
func (a *app) acquireHandle(ctx context.Context, p *plan) error {
	inbox := catchSignals()
	s, err := a.openFor(ctx, p, inbox)
	if err != nil {
		return err
	}
	defer s.abandon(ctx)
	if !s.driver.Traits().Detach {
		return usage("%s ends a lock with the process that took it; use holdfast run", s.shown)
	}
	lease, err := a.acquireFirst(ctx, s, p, inbox)
	if err != nil {
		return err
	}
	handle, err := s.detach(ctx, lease, inbox)
	if err != nil {
		return err
	}
	err = a.printHeld(held{Name: p.name, Token: decimal(lease.Token()), Handle: handle, ExpiresIn: p.ttl.Seconds()},
		handle)
	if err != nil { // nobody has the handle
		return errors.Join(err, s.takeBack(ctx, handle))
	}
	return nil
}

// detach leaves a lock taken, and returns its handle. A signal ends that, too, and the lock is given back.
func (s *store) detach(ctx context.Context, lease *holdfast.Lease, inbox *inbox) (handle string, err error) {
	leaving, done := inbox.until(ctx)
	handle, err = lease.Detach(leaving)
	done()
	i, came := errors.AsType[*interrupt](context.Cause(leaving))
	switch {
	case came && err == nil:
		_ = s.takeBack(ctx, handle) // otherwise it ends with its TTL
		return "", ended(i.code())
	case came: // closing the store gives it back
		return "", ended(i.code())
	case err != nil:
		return "", s.failed(err)
	}
	return handle, nil
}

// takeBack ends the lock of a handle that nobody gets.
func (s *store) takeBack(ctx context.Context, handle string) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_, err := s.giveBack(ctx, handle)
	return err
}

// giveBack ends the lock of a handle, and returns what is over.
func (s *store) giveBack(ctx context.Context, handle string) (*holdfast.Lease, error) {
	lease, err := s.Resume(ctx, handle)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit) // the lock may live for days
	defer cancel()
	return lease, lease.Release(ctx)
}

// A held is a detached lock as it is shown.
type held struct {
	Name      string  `json:"name"`
	Token     string  `json:"token"` // the fencing token, in decimal
	Handle    string  `json:"handle,omitempty"`
	ExpiresIn float64 `json:"expires_in"` // seconds, unless it is renewed; zero once it was given back
}

func (a *app) printHeld(h held, line string) error {
	if a.json {
		return printJSON(a.out, h)
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}

// renewVerb is holdfast renew.
func (a *app) renewVerb() *cobra.Command {
	return a.handleVerb("renew HANDLE", "Keep a lock taken for its --ttl from now on",
		"Renew keeps the lock of the handle for the --ttl given to acquire, counted from now. "+
			"It exits with 76 if the lock was lost.",
		func(ctx context.Context, s *store, handle string) error {
			lease, err := s.Resume(ctx, handle)
			if err != nil {
				return err
			}
			s.leaves = true
			return a.detachAgain(ctx, lease)
		})
}

// detachAgain leaves a resumed lock taken, and tells for how long.
func (a *app) detachAgain(ctx context.Context, lease *holdfast.Lease) error {
	left := time.Until(lease.ValidUntil())
	if _, err := lease.Detach(ctx); err != nil {
		return err
	}
	return a.printOurs(lease.Name(), lease.Token(), left)
}

func (a *app) printOurs(name string, token uint64, left time.Duration) error {
	line := fmt.Sprintf("%s is ours for another %v", printable(name), left.Truncate(100*time.Millisecond))
	return a.printHeld(held{Name: name, Token: decimal(token), ExpiresIn: left.Seconds()}, line)
}

// checkVerb is holdfast check.
func (a *app) checkVerb() *cobra.Command {
	return a.handleVerb("check HANDLE", "Check whether a lock is still ours, without renewing it",
		"Check looks whether the handle still holds its lock, and renews nothing. "+
			"It exits with 76 if the lock was lost.",
		func(ctx context.Context, s *store, handle string) error {
			entry, err := s.CheckHandle(ctx, handle)
			if err != nil {
				return err
			}
			return a.printOurs(entry.Name, entry.Token, entry.Left)
		})
}

// releaseVerb is holdfast release.
func (a *app) releaseVerb() *cobra.Command {
	return a.handleVerb("release HANDLE", "Release a lock",
		`Release releases the lock of the handle. It exits with 76 if the lock was lost: then the work under it may have
overlapped with another holder's.`,
		func(ctx context.Context, s *store, handle string) error {
			lease, err := s.giveBack(ctx, handle)
			if err != nil || !a.json {
				return err
			}
			return printJSON(a.out, held{Name: lease.Name(), Token: decimal(lease.Token())})
		})
}

// handleVerb makes a verb that uses a handle.
func (a *app) handleVerb(use, short, long string, do func(context.Context, *store, string) error) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long + "\n\n" + exitHelp + "\n  76   the lock was lost",
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.use(c.Context(), func(s *store) error { return handleFailed(do(c.Context(), s, args[0])) })
		},
	}
	a.backend.register(c)
	return c
}

// handleFailed gives an error about a handle its exit code.
func handleFailed(err error) error {
	switch {
	case errors.Is(err, holdfast.ErrLost):
		return &exit{code: exitLost, err: err}
	case errors.Is(err, holdfast.ErrInvalidHandle):
		return usage("%w", err)
	default:
		return err
	}
}
