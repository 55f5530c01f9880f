package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// lookEvery bounds the pause between two looks at the lease: timers stand still while the machine sleeps, leases do
// not.
const lookEvery = time.Second

// supervise passes signals on and watches the lease, until the command has ended: by itself or, when the lock is lost,
// with all that it started.
func (j *job) supervise() {
	held, asked, deserted := j.lease.Done(), j.lease.Revoked(), j.child.Deserted()
	for {
		j.child.Until(j.limit)
		select {
		case <-j.ended():
			if j.lost != nil || !j.isEndedByGuard() {
				return
			}
			j.noteLost(j.lateness())
			if j.kill() { // the guard ends with the command, though it may not have found yet what had left the group
				return
			}
		case s := <-j.inbox.signals:
			j.noteAsked(s)
			j.noteUnheard(j.child.Signal(s))
		case <-asked:
			asked = nil
			j.noteRevoked()
		case <-held:
			held = nil
		case <-deserted:
			deserted = nil
			j.noteDeserted()
		case <-time.After(j.pause()):
		}
		if done := j.look(); done {
			return
		}
	}
}

// ended is closed when there is no more to supervise.
func (j *job) ended() <-chan struct{} {
	if j.lost != nil && j.plan.onLost != lostIgnore {
		return j.child.Gone()
	}
	return j.child.Done()
}

// isEndedByGuard reports whether the guard has ended the command, because we were late.
func (j *job) isEndedByGuard() bool {
	const killed = 128 + int(syscall.SIGKILL)
	return j.child.Code() == killed && j.child.WasLate()
}

// lateness is why the lock counts as lost when the guard has ended the command. The lease may have been renewed, and
// the guard not told.
func (j *job) lateness() error {
	if err := j.lease.Err(); err != nil {
		return err
	}
	return fmt.Errorf("lock %q counts as lost: its guard ended the command, for it did not hear in time that the lock "+
		"was renewed", j.plan.name)
}

// limit is until when the command may run: for as long as the lock is ours or, once the command was asked to end, to
// the end of its grace. The guard does not come before us.
func (j *job) limit() time.Time {
	if j.killAt.IsZero() {
		return j.end().Add(j.guardLag())
	}
	return j.killAt.Add(j.guardLag())
}

// guardLag is by how much the guard lets us be the first.
func (j *job) guardLag() time.Duration { return min(longestLag, j.killTakes()/2) }

const longestLag = 20 * time.Millisecond

// end is when the command is killed if the lock is not renewed before: so long before the end of the lease that nothing
// of the command lives then. What has left its group has to be found, beside all else that the machine does.
func (j *job) end() time.Time { return j.lease.ValidUntil().Add(-j.killTakes()) }

func (j *job) killTakes() time.Duration { return min(j.plan.ttl/killShare, longestKill) }

// Bounds of what it takes to kill a command.
const (
	killShare   = 20 // part of the TTL
	longestKill = 500 * time.Millisecond
)

// guardShare is the part of the TTL after which the guard is told of renewals at the latest.
const guardShare = 4

// pause is how long nothing has to be done unless something happens.
func (j *job) pause() time.Duration {
	switch {
	case j.lost == nil:
		return min(within(j.lease.ValidUntil().Add(-j.margin())), j.plan.ttl/guardShare)
	case j.plan.onLost == lostTerm && j.lives == nil:
		return within(j.killAt)
	default:
		return lookEvery
	}
}

// within is the time until then, or until the next look is due anyway.
func within(then time.Time) time.Duration {
	return min(max(time.Until(then), time.Millisecond), lookEvery)
}

// margin is how long before the end of the lease the command has to be told, or killed. A grace that takes all that
// renewals can spare is shorter by what killing takes.
func (j *job) margin() time.Duration {
	switch j.plan.onLost {
	case lostTerm:
		return min(j.plan.grace+j.killTakes(), j.plan.ttl/graceShare)
	case lostKill:
		return j.killTakes()
	default:
		return 0
	}
}

// look does what is due. It reports whether the command was killed.
func (j *job) look() (killed bool) {
	j.noteTrouble()
	if j.lost == nil {
		j.noteLost(j.danger())
	}
	switch {
	case j.lost == nil || j.plan.onLost == lostIgnore || j.lives != nil:
		return false
	case j.plan.onLost == lostKill || isExpired(j.lease.Err()):
		return j.kill()
	case j.killAt.IsZero():
		j.terminate()
		return false
	case time.Now().Before(j.killAt):
		return false
	default:
		return j.kill()
	}
}

// kill reports whether nothing of the command lives. What cannot be killed is watched to its end, and the lock is kept
// for as long as that is possible: nobody is told that the job is over while it is not.
func (j *job) kill() (killed bool) {
	if j.lives = j.child.Kill(); j.lives == nil {
		return true
	}
	j.warnAside(fmt.Errorf("%w; this ends when it does", j.lives))
	return false
}

// noteUnheard tells of a signal that did not reach the command, because that runs as another user. The lock is kept.
func (j *job) noteUnheard(err error) {
	if errors.Is(err, fs.ErrPermission) {
		j.warnAside(fmt.Errorf("the command runs as another user, and cannot be sent signals: %w; the lock is kept "+
			"while it runs", err))
	}
}

// noteDeserted tells that from now on one pair of eyes is on the command, and not two.
func (j *job) noteDeserted() {
	j.warnAside(errors.New("the guard has ended: nothing ends the command in time if this process is stopped"))
}

// danger returns why the lock counts as lost: it is, or it ends before the command would have had its grace, and would
// be gone. A renewal that succeeds later does not matter: the command was told to end.
func (j *job) danger() error {
	if err := j.lease.Err(); err != nil {
		return err
	}
	left := time.Until(j.lease.ValidUntil())
	if j.plan.onLost == lostIgnore || left > j.margin() {
		return nil
	}
	return &dangerError{name: j.plan.name, left: left, why: j.lease.RenewalErr()}
}

// A dangerError is why a lock counts as lost that is held still.
type dangerError struct {
	name string
	left time.Duration // to the end of the lease
	why  error         // the last renewal failed; nil if nothing is known
}

func (e *dangerError) Error() string {
	s := fmt.Sprintf("lock %q counts as lost: it could not be renewed and ends in %v", e.name,
		e.left.Round(time.Millisecond))
	if e.why != nil {
		s += ": " + e.why.Error()
	}
	return s
}

func (e *dangerError) Unwrap() error { return e.why }

// warnShare is the part of the TTL that a lease has left when a failing renewal is worth a warning. The next attempts
// may succeed, and then the command never hears of it.
const warnShare = 2

// noteTrouble warns, once in each outage, that the lock cannot be renewed, and says why.
func (j *job) noteTrouble() {
	why, left := j.lease.RenewalErr(), time.Until(j.lease.ValidUntil())
	switch {
	case why == nil:
		j.troubled = false
	case !j.troubled && j.lost == nil && left <= j.plan.ttl/warnShare:
		j.troubled = true
		j.warnAside(fmt.Errorf("renewing %q failed: %w; the lock ends in %v unless it recovers", j.plan.name,
			j.backend.explain(why), left.Round(time.Millisecond)))
	}
}

// terminate asks the command to end, and sets when it is killed: before the end of the lease or, when others may have
// the lock already, after the grace.
func (j *job) terminate() {
	j.killAt = time.Now().Add(j.plan.grace)
	if j.lease.Err() == nil {
		j.killAt = j.end()
	}
	j.noteUnheard(j.child.Terminate())
}

// isExpired reports whether the lease is over by its time, so that the command has none left.
func isExpired(err error) bool {
	var lost *holdfast.LostError
	return errors.As(err, &lost) && lost.Reason == holdfast.LostExpired
}

// noteRevoked tells that somebody asked for the lock, and passes the wish on. The command decides: the lock is ours,
// and renewed, for as long as it runs.
func (j *job) noteRevoked() {
	j.tellWithDoer(driver.NoteRevoke, func(by string) {
		j.emit(event{Event: "revoked", Name: j.plan.name, Token: decimal(j.lease.Token()), By: by})
		if !j.json {
			j.say("%s asked for %s: %s", cmp.Or(printable(by), "somebody"), printable(j.plan.name),
				map[string]string{revokeTerm: "the command is told to end",
					revokeIgnore: "the command goes on"}[j.plan.onRevoke])
		}
	})
	if j.plan.onRevoke == revokeTerm {
		j.told = true
		j.noteUnheard(j.child.Terminate())
	}
}

// noteLost notes that the lock is lost, and tells.
func (j *job) noteLost(err error) {
	if err == nil {
		return
	}
	j.lost = err
	j.told = j.told || time.Since(j.hungUp) < j.plan.grace
	kind := "" // of a lease that ran out there is no note, and often no backend that answers
	if lost, ok := errors.AsType[*holdfast.LostError](err); ok && lost.Reason == holdfast.LostGone {
		kind = driver.NoteBreak
	}
	err = j.backend.explain(err)
	j.tellWithDoer(kind, func(by string) {
		j.emit(event{Event: "lost", Name: j.plan.name, Token: decimal(j.lease.Token()), By: by, Error: err.Error()})
		if j.json {
			return
		}
		j.say("%s", err)
		if by != "" {
			j.say("%s broke %s", printable(by), printable(j.plan.name))
		}
	})
}
