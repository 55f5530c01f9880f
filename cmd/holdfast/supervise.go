package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
)

// lookEvery bounds the pause between two looks at the lease: timers stand still while the machine sleeps, leases do not.
const lookEvery = time.Second

// supervise passes signals on and watches the lease, until the command has ended: by itself or, when the lock is lost,
// with all that it started.
func (j *job) supervise() {
	held, asked := j.lease.Done(), j.lease.Revoked()
	for {
		select {
		case <-j.ended():
			return
		case s := <-j.inbox.signals:
			j.told = j.told || ends(s)
			_ = j.child.Signal(s) // it may be gone by now
		case <-asked:
			asked = nil
			j.noteRevoked()
		case <-held:
			held = nil
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

// pause is how long nothing has to be done unless something happens.
func (j *job) pause() time.Duration {
	switch {
	case j.lost == nil:
		return within(j.lease.ValidUntil().Add(-j.margin()))
	case j.plan.onLost == lostTerm:
		return within(j.killAt)
	default:
		return lookEvery
	}
}

// within is the time until then, or until the next look is due anyway.
func within(then time.Time) time.Duration {
	return min(max(time.Until(then), time.Millisecond), lookEvery)
}

// margin is how long before the end of the lease the command has to be told.
func (j *job) margin() time.Duration {
	if j.plan.onLost == lostTerm {
		return j.plan.grace
	}
	return 0
}

// look does what is due. It reports whether the command was killed.
func (j *job) look() (killed bool) {
	if j.lost == nil {
		j.noteLost(j.danger())
	}
	switch {
	case j.lost == nil || j.plan.onLost == lostIgnore:
		return false
	case j.plan.onLost == lostKill || isExpired(j.lease.Err()):
		j.child.Kill()
		return true
	case j.killAt.IsZero():
		j.terminate()
		return false
	case time.Now().Before(j.killAt):
		return false
	default:
		j.child.Kill()
		return true
	}
}

// danger returns why the lock counts as lost: it is, or it ends before the command would have had its grace. A renewal
// that succeeds later does not matter: the command was told to end.
func (j *job) danger() error {
	if err := j.lease.Err(); err != nil {
		return err
	}
	left := time.Until(j.lease.ValidUntil())
	if j.plan.onLost != lostTerm || left > j.plan.grace {
		return nil
	}
	return fmt.Errorf("lock %q counts as lost: it could not be renewed and ends in %v", j.plan.name, left.Round(time.Millisecond))
}

// terminate asks the command to end, and sets when it is killed: at the end of the lease or, when others may have the
// lock already, after the grace.
func (j *job) terminate() {
	j.killAt = time.Now().Add(j.plan.grace)
	if j.lease.Err() == nil {
		j.killAt = j.lease.ValidUntil()
	}
	j.child.Terminate()
}

// isExpired reports whether the lease is over by its time, so that the command has none left.
func isExpired(err error) bool {
	var lost *holdfast.LostError
	return errors.As(err, &lost) && lost.Reason == holdfast.LostExpired
}

// noteRevoked tells that somebody asked for the lock, and passes the wish on. The command decides: the lock is ours, and
// renewed, for as long as it runs.
func (j *job) noteRevoked() {
	j.emit(event{Event: "revoked", Name: j.plan.name, Token: decimal(j.lease.Token())})
	if j.plan.onRevoke == revokeTerm {
		j.told = true
		j.child.Terminate()
	}
}

// noteLost notes that the lock is lost, and tells.
func (j *job) noteLost(err error) {
	if err == nil {
		return
	}
	j.lost = err
	j.emit(event{Event: "lost", Name: j.plan.name, Token: decimal(j.lease.Token()), Error: err.Error()})
	if !j.json {
		j.say("%s", err)
	}
}
