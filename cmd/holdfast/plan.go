package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// runFlags are the flags of run, as given.
type runFlags struct {
	noWait   bool
	wait     time.Duration
	shared   bool
	slots    int64
	ttl      time.Duration
	atLeast  time.Duration
	onLost   string
	onRevoke string
	grace    time.Duration
	conflict int
	shell    bool
	noGuard  bool
	quiet    bool
}

func (f *runFlags) register(c *cobra.Command) {
	f.registerWait(c)
	f.registerCommon(c)
	flags := c.Flags()
	durationVar(flags, &f.atLeast, "at-least", "", 0,
		"hold the lock for at least this long, even if the command ends earlier")
	flags.StringVar(&f.onLost, "on-lost", lostTerm,
		"what to do with the command when the lock is lost: term, kill or ignore")
	completeFlag(c, "on-lost", lostTerm, lostKill, lostIgnore)
}

// registerWait registers what every verb takes that may wait for a lock of any kind.
func (f *runFlags) registerWait(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVarP(&f.noWait, "no-wait", "n", false, "do not wait for the lock")
	durationVar(flags, &f.wait, "wait", "w", 0,
		"wait for at most this long, like 30s or 1d, also for a backend that is full or away (default: forever)")
	flags.BoolVarP(&f.shared, "shared", "s", false, "share the lock with others that use --shared")
	flags.Int64Var(&f.slots, "slots", 1, "how many commands may run at a time; use the same number everywhere")
	flags.BoolVarP(&f.quiet, "quiet", "q", false,
		"print nothing while waiting, nor about a lock that is taken: the exit code tells")
	flags.IntVarP(&f.conflict, "conflict-exit-code", "E", exitConflict, "exit code when the lock was not acquired")
}

// registerCommon registers what every verb takes that runs a command.
func (f *runFlags) registerCommon(c *cobra.Command) {
	flags := c.Flags()
	durationVar(flags, &f.ttl, "ttl", "", holdfast.DefaultTTL,
		"how long the lock stays held when its holder is cut off")
	flags.StringVar(&f.onRevoke, "on-revoke", revokeTerm,
		"what to do with the command when somebody asks for the lock: term or ignore")
	durationVar(flags, &f.grace, "grace", "", 0,
		"time between TERM and KILL, a third of --ttl at most (default 3s, or a third of a --ttl below 9s)")
	flags.BoolVar(&f.noGuard, "no-guard", false,
		"run without a guard: nothing ends the command in time if holdfast itself is stopped")
	flags.BoolVar(&f.shell, "shell", false, "run the command, a single argument, with a shell")
	completeFlag(c, "on-revoke", revokeTerm, revokeIgnore)
}

// completeFlag completes a flag that takes one of these.
func completeFlag(c *cobra.Command, name string, values ...string) {
	err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// defaultGrace is the time between TERM and KILL, unless the TTL is too short for it.
const defaultGrace = 3 * time.Second

// graceShare is the part of the TTL that the grace may be: renewals must have had their chances before TERM is sent.
const graceShare = 3

// What to do when the lock is lost.
const (
	lostTerm   = "term"
	lostKill   = "kill"
	lostIgnore = "ignore"
)

// What to do when somebody asks for the lock.
const (
	revokeTerm   = "term"
	revokeIgnore = "ignore"
)

// A plan is a command line that makes sense.
type plan struct {
	runFlags
	name     string
	command  []string
	campaign bool   // the lock is an election: who loses it campaigns again
	value    string // what a candidate stands for

	deadline time.Time // when --wait is over; zero before the wait has begun, or without --wait
}

// plan checks the command line.
func (f *runFlags) plan(c *cobra.Command, args []string) (*plan, error) {
	given := c.Flags().Changed
	p := &plan{runFlags: *f}
	if err := p.take(c.CommandPath(), args, c.ArgsLenAtDash()); err != nil {
		return nil, err
	}
	p.noWait = f.noWait || given("wait") && f.wait == 0
	if !given("grace") {
		p.grace = min(defaultGrace, p.ttl/graceShare)
	}
	return p, cmp.Or(f.check(given), f.checkTTL())
}

// leastTTL leaves renewals their chances before TERM is sent. Of a short TTL much is the margin of the lease.
const leastTTL = 300 * time.Millisecond

// checkTTL refuses a TTL of which a command would be ended before the lock could be renewed.
func (f *runFlags) checkTTL() error {
	if f.ttl < leastTTL {
		return usage("--ttl %v is too short to renew the lock before the command would have to be ended; use %v or "+
			"more", f.ttl, leastTTL)
	}
	return nil
}

// check refuses flags that make no sense, alone or together.
func (f *runFlags) check(given func(string) bool) error {
	switch {
	case f.noWait && given("wait"):
		return usage("--no-wait and --wait exclude each other; use one of them")
	case f.quiet && given("json"):
		return usage("--quiet and --json exclude each other; use one of them")
	case f.shared && given("slots"):
		return usage("--shared has no limit and --slots is one; use one of them")
	case f.wait < 0:
		return usage("--wait must not be negative")
	case f.atLeast < 0:
		return usage("--at-least must not be negative")
	case f.grace < 0:
		return usage("--grace must not be negative")
	case f.ttl <= 0:
		return usage("--ttl must be positive, like 15s")
	case f.slots < 1 || f.slots > driver.All:
		return usage("--slots must be from 1 to %d", driver.All)
	case !slices.Contains([]string{lostTerm, lostKill, lostIgnore}, f.onLost):
		return usage("--on-lost must be term, kill or ignore")
	case !slices.Contains([]string{revokeTerm, revokeIgnore}, f.onRevoke):
		return usage("--on-revoke must be term or ignore")
	case given("grace") && f.onLost != lostTerm:
		return usage("--grace is the time after TERM, which --on-lost=%s does not send; leave it out", f.onLost)
	case given("grace") && f.grace > f.ttl/graceShare:
		return usage("--grace %v is more than a third of --ttl %v; use a shorter grace or a longer TTL", f.grace, f.ttl)
	case f.conflict < 0 || f.conflict > 255:
		return usage("--conflict-exit-code must be from 0 to 255")
	}
	return nil
}

// take takes the arguments of a verb apart; dash is how many come before the "--".
func (p *plan) take(verb string, args []string, dash int) error {
	form := verb + " [flags] NAME -- COMMAND [ARG...]"
	switch {
	case dash < 0:
		return usage("put -- between the name of the lock and the command: %s", form)
	case dash != 1:
		return usage("give one name before the --: %s", form)
	case hasEmpty(args[:1]):
		return usage("the name before the -- is empty; %s The form is: %s", unsetHint, form)
	case len(args) == 1:
		return usage("give a command after the --: %s", form)
	case strings.TrimSpace(args[1]) == "":
		return usage("the command after the -- is empty: %s", form)
	case p.shell && len(args) > 2:
		return usage("--shell takes the command as one argument; put it into quotes: %s --shell NAME -- 'COMMAND | "+
			"COMMAND'", verb)
	}
	p.name, p.command = args[0], args[1:]
	if p.shell {
		p.command = shellCommand(args[1])
	}
	return nil
}

// findProgram finds the command before the lock is waited for, as shells do.
func (p *plan) findProgram() (string, error) {
	path, err := exec.LookPath(p.command[0])
	if err != nil && !(errors.Is(err, exec.ErrDot) && runtime.GOOS != "windows") { // where PATH alone says so
		return "", cannotRun(p.command[0], err)
	}
	return path, nil
}

// label tells others what runs. Arguments are not told: they may be secret.
func (p *plan) label() string {
	if len(p.command) == 0 {
		return "detached"
	}
	return filepath.Base(p.command[0])
}

// owner is how others see this process: see holdfast.WithOwner.
func (p *plan) owner() string { return self() + " " + p.label() }

// waitFrom has the wait begin, unless it has begun already.
func (p *plan) waitFrom(begin time.Time) {
	if p.wait > 0 && p.deadline.IsZero() {
		p.deadline = begin.Add(p.wait)
	}
}

// isOver reports whether --wait is over.
func (p *plan) isOver() bool { return !p.deadline.IsZero() && !time.Now().Before(p.deadline) }

// patience bounds the wait. It begins with the first call at the latest, and later ones have what is left of --wait.
func (p *plan) patience(ctx context.Context, stop func()) (context.Context, func()) {
	if p.wait == 0 {
		return ctx, stop
	}
	p.waitFrom(time.Now())
	late := fmt.Errorf("it did not become free within %v", p.wait)
	ctx, cancel := context.WithDeadlineCause(ctx, p.deadline, late)
	return ctx, func() { stop(); cancel() } // in this order the signal that ended it stays its cause
}

// acquire takes the lock of the right kind.
func (p *plan) acquire(ctx context.Context, c *holdfast.Client) (*holdfast.Lease, error) {
	lock, try := p.kind(c)
	if p.noWait {
		return try(ctx)
	}
	return lock(ctx)
}

// kind returns how to wait for a lock of the right kind, and how to try.
func (p *plan) kind(c *holdfast.Client) (lock, try func(context.Context) (*holdfast.Lease, error)) {
	switch {
	case p.campaign:
		e := c.Election(p.name)
		campaign := func(ctx context.Context) (*holdfast.Lease, error) { return e.Campaign(ctx, p.value) }
		return campaign, campaign
	case p.shared:
		m := c.RWMutex(p.name)
		return m.RLock, m.TryRLock
	case p.slots > 1:
		m := c.Semaphore(p.name, p.slots)
		return func(ctx context.Context) (*holdfast.Lease, error) { return m.Acquire(ctx, 1) },
			func(ctx context.Context) (*holdfast.Lease, error) { return m.TryAcquire(ctx, 1) }
	default:
		m := c.Mutex(p.name)
		return m.Lock, m.TryLock
	}
}

// suits reports what the backend cannot do of the plan.
func (p *plan) suits(t driver.Traits) error {
	if err := driver.Validate(p.claim(), t); err != nil {
		return usage("%w", err)
	}
	return nil
}

// claim is what the plan asks for.
func (p *plan) claim() driver.Claim {
	return driver.Claim{Name: p.name, ID: "any", Weight: 1, Limit: p.limit(), TTL: p.ttl}
}

// limit is how many may hold the lock at a time.
func (p *plan) limit() int64 {
	if p.shared {
		return driver.All
	}
	return p.slots
}

// self is this process to others: host:pid.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + ":" + strconv.Itoa(os.Getpid())
}

// decimal writes a token: as text, because JSON's numbers end at 2^53.
func decimal(token uint64) string { return strconv.FormatUint(token, 10) }
