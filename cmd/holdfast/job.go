package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/child"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/guard"
	"github.com/holdfast-go/holdfast/driver"
)

// A job is a command that runs under a lock.
type job struct {
	*app
	plan  *plan
	store *store
	lease *holdfast.Lease
	inbox *inbox
	since time.Time // when the lock was granted, or a little later
	child *child.Child

	began    bool // the command did
	troubled bool // a renewal failed, and that was told

	lost   error     // why the lock counts as lost, once it does
	lives  error     // why the command runs on without the lock, if it could not be stopped
	again  bool      // the command is to be started anew; decided when the backend is closed or not
	told   bool      // somebody asked the command to end
	signal os.Signal // that asked for it, last; nil if none did
	hungUp time.Time // when HUP may have, last
	killAt time.Time // when the command is killed, once it was asked to end
}

// run runs the command to its end, gives the lock back, and returns the end's exit code.
func (j *job) run(ctx context.Context, program string) error {
	err := j.lease.Err()
	if j.noteLost(err); err == nil {
		err = j.start(program)
		j.began = err == nil
	}
	switch {
	case j.lost != nil: // before the command began
		err = nil
	case err == nil:
		j.supervise()
		j.child.Leave()
	case errors.Is(err, guard.ErrLate):
		j.noteLost(j.lateness())
		err = nil
	}
	j.release(ctx)
	if err != nil {
		return err
	}
	code := j.code()
	j.emit(event{Event: "exit", Code: &code})
	return ended(code)
}

// code is the exit code of a command that has ended.
func (j *job) code() int {
	switch {
	case j.lives != nil:
		return exitUnstopped
	case j.lost != nil:
		return exitLost
	default:
		return j.child.Code()
	}
}

// start starts the command.
func (j *job) start(program string) (err error) {
	j.child, err = child.Start(child.Command{
		Path: program, Args: j.plan.command, Env: j.environment(),
		Stdin: j.in, Out: j.out, Err: j.err,
		Mark:    heldEnv + "=" + around(j.plan.name, j.lease.Token()),
		Inherit: driver.Inherit(j.store.driver),
		Until:   j.guarded(),
		Resume:  func() bool { return j.lease.Err() == nil },
	})
	if err != nil {
		return cannotRun(j.plan.command[0], err)
	}
	return nil
}

// guarded says until when the command may run, if it is to be ended then.
func (j *job) guarded() func() time.Time {
	if j.plan.onLost == lostIgnore || j.plan.noGuard {
		return nil
	}
	return j.limit
}

// environment is ours, and what tells the command about its lock, in the place of what an outer lock set.
func (j *job) environment() []string {
	set := []string{
		"HOLDFAST_NAME=" + j.plan.name,
		"HOLDFAST_TOKEN=" + decimal(j.lease.Token()),
		"HOLDFAST_OWNER=" + j.plan.owner(),
		heldEnv + "=" + around(j.plan.name, j.lease.Token()),
	}
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc(set, func(s string) bool { return variable(s) == variable(v) })
	})
	return append(inherited, set...)
}

// variable is what a line of the environment sets.
func variable(line string) string {
	name, _, _ := strings.Cut(line, "=")
	return name
}

// release gives the lock back, and closes the backend unless the job runs again. That it does not answer any more is a
// warning: the work was protected to its end.
func (j *job) release(ctx context.Context) {
	ctx, done := j.farewell(ctx)
	defer done()
	if j.child == nil || j.child.HasGone() {
		defer actAsMain(ctx)()
	}
	limit, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	released := j.giveBack(limit)
	j.again = j.runsAgain()
	if j.lost == nil && errors.Is(released, holdfast.ErrLost) {
		j.noteLost(released)
	}
	j.awaitTold(j.again) // the lock is free, and there is a connection to ask over
	var closed error
	if !j.again {
		closed = j.store.close(ctx)
	}
	switch {
	case j.lost != nil:
	case released != nil:
		j.warn(released)
	case closed != nil && j.plan.atLeast > 0 && isInterrupt(context.Cause(ctx)):
		j.warn(j.cutShort())
	case closed != nil:
		j.warn(closed)
	}
}

// cutShort says what becomes of a lock that this process kept for --at-least, because the backend cannot keep it alone
// for so long, until a signal came.
func (j *job) cutShort() error {
	return fmt.Errorf("a signal ended --at-least: %s stays taken for at most %v more, its --ttl, and not until %s",
		printable(j.plan.name), j.plan.ttl, j.since.Add(j.plan.atLeast).Format(time.DateTime))
}

func (j *job) giveBack(ctx context.Context) error {
	if j.began {
		return j.lease.Release(ctx)
	}
	return j.store.giveUp(ctx, j.plan, j.lease)
}

// lostLimit bounds the end where the lock is lost: there is little to give back, and maybe nobody to take it.
const lostLimit = 500 * time.Millisecond

// farewell bounds the end. A backend that cannot leave a claim alone needs us for the rest of --at-least. A signal ends
// that, also one that came before: the user who ended the command, or tried to just as it ended, expects this process
// to end, and service managers send no second signal.
func (j *job) farewell(ctx context.Context) (context.Context, func()) {
	switch {
	case j.lost != nil:
		return context.WithTimeout(ctx, lostLimit)
	case j.plan.atLeast == 0:
		return context.WithTimeout(ctx, closeLimit)
	}
	if j.signal != nil {
		j.inbox.keep(j.signal)
	}
	ctx, stop := j.inbox.until(ctx)
	ctx, cancel := context.WithTimeout(ctx, closeLimit+j.plan.atLeast)
	return ctx, func() { cancel(); stop() }
}

func (a *app) warn(err error) {
	a.emit(event{Event: "warning", Error: err.Error()})
	if !a.json {
		a.say("%s", err)
	}
}
