package leased

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// request queues or renews a claim, as [driver.OpRequest] says, and follows it.
func (t *task) request(op driver.Op) (st driver.Status, err error) {
	c := op.Claim
	if err := driver.Validate(c, t.d.store.Traits()); err != nil {
		return st, err
	}
	e := t.d.claims.Known(c)
	switch {
	case e != nil:
		st, err = t.repeat(e, op)
	case c.Token != 0:
		st, err = t.takeOver(nil, op)
	default:
		st, err = t.first(op)
	}
	t.d.follow(op, st, err)
	return st, err
}

// repeat requests a claim that was requested here before.
func (t *task) repeat(e *claim, op driver.Op) (driver.Status, error) {
	c, token, gone := op.Claim, e.Token(), e.isGone()
	switch {
	case !gone && e.isLeftOut():
		return driver.Status{}, t.leaveOut(e)
	case gone && c.Token == 0:
		return driver.Status{}, driver.ErrGone
	case gone, token == 0 && c.Token != 0:
		return t.takeOver(e, op) // another client may have
	case token == 0:
		return t.put(e, op)
	case c.Token != 0 && c.Token != token:
		return driver.Status{}, driver.ErrGone
	}
	st, err := t.renew(e, op)
	if err == nil {
		st, err = t.unlessWaiting(e, c, st)
	}
	return st, undecided(err) // the claim is in the queue, whatever was not done now
}

// first requests a claim for the first time. The session may turn out to have ended, or to take nothing more. Then
// nothing was put, and the claim gets another one.
func (t *task) first(op driver.Op) (driver.Status, error) {
	for {
		at, err := t.session(op.Claim)
		if err != nil {
			return driver.Status{}, unsent(err)
		}
		e := t.d.enter(op.Claim, at, nil)
		st, err := t.put(e, op)
		if !errors.Is(err, ErrSessionLost) && !errors.Is(err, ErrSessionFull) {
			return st, err
		}
		t.d.forget(e)
	}
}

// unsent is an error from before anything was sent about a claim.
func unsent(err error) error {
	if driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrUnsent, err)
}

// put sends the first request of a claim, perhaps not for the first time.
func (t *task) put(e *claim, op driver.Op) (driver.Status, error) {
	c, at, sent, again := op.Claim, e.tenancy(), Now(), e.maybeQueued()
	o := t.enterQueue(e, c)
	switch err := o.Err; {
	case err == nil && o.There != nil && !o.Found:
		if !e.IsLeaving() { // else it stays known until it has left, or a late request would find it in the queue
			t.d.forget(e)
		}
		return driver.Status{}, driver.ErrGone
	case err == nil && !o.Found:
		return driver.Status{}, t.leaveOut(e) // it would not wait
	case err == nil && o.Own.Session != at.ID():
		t.d.forget(e) // another client has queued it
		return t.takeUp(op, o.Own)
	case err == nil && !o.Done:
		return t.putBefore(e, op, o.Own)
	case err == nil:
		return t.placed(e, c, o, sent)
	case errors.Is(err, ErrSessionLost) && again:
		t.d.remember(e)
		return driver.Status{}, driver.ErrGone
	case errors.Is(err, driver.ErrRefused), errors.Is(err, errors.ErrUnsupported):
		return driver.Status{}, t.refuse(e, err)
	case isUnknown(err):
		e.Doubt()
		return driver.Status{}, err
	case again:
		return driver.Status{}, undecided(err)
	case errors.Is(err, driver.ErrUnsent):
		t.d.forget(e) // it is not in the queue
		return driver.Status{}, err
	default:
		return driver.Status{}, err
	}
}

// tries is how often a claim that would not wait is put where nobody has come meanwhile.
const tries = 4

// enterQueue enters the queue. A claim that would not wait does so only where it is granted: if the queue is empty, or
// if nobody has come after those that were read and judged. Where others keep coming, it is put behind them, and leaves
// again unless it is granted.
func (t *task) enterQueue(e *claim, c driver.Claim) Outcome {
	step := e.step(Enter)
	step.Session, step.Live, step.Keep, step.Seat = e.tenancy().Session, c.TTL, c.TTL, newSeat(c, step.Place)
	step.Again, step.Ahead, step.Try = e.maybeQueued(), lookAhead(step.Seat), !c.Queue
	for range tries {
		o := t.ask(step)
		if o.Err != nil || o.Found || o.There != nil {
			return o
		}
		me := step.Seat
		me.Token = uint64(o.Revision) + 1 // behind all that were read
		v, _, err := t.judge(c.Name, me, o)
		if err != nil || !v.Granted {
			return Outcome{Err: err}
		}
		step.Since = o.Revision
	}
	step.Try = false
	return t.ask(step)
}

func newSeat(c driver.Claim, place string) Seat {
	return Seat{
		ID: c.ID, Place: place, Weight: c.Weight, Limit: c.Limit, TTL: c.TTL, Detached: c.Detached,
		Owner: c.Owner, Value: c.Value, Since: time.Now(),
	}
}

// placed answers about a claim that was just put.
func (t *task) placed(e *claim, c driver.Claim, o Outcome, sent Instant) (driver.Status, error) {
	e.Answered(o.Own.Token)
	st, err := t.settle(e, o)
	if errors.Is(err, driver.ErrRefused) {
		return driver.Status{}, t.refuse(e, err) // it cannot be judged
	}
	if err != nil {
		return driver.Status{}, undecided(err)
	}
	if !e.Live(e.sure(c, o), sent) {
		return driver.Status{}, driver.ErrGone // its time has come, and it is being taken out of the queue
	}
	st.TTL = e.Status().TTL
	return t.unlessWaiting(e, c, st)
}

// putBefore answers about a claim that an earlier attempt has put.
func (t *task) putBefore(e *claim, op driver.Op, own Seat) (driver.Status, error) {
	e.Answered(own.Token)
	st, err := t.renew(e, op)
	if err == nil {
		st, err = t.unlessWaiting(e, op.Claim, st)
	}
	return st, undecided(err)
}

// sure is for how long a claim lives at least from the instant at which a step was sent that kept its session alive.
func (e *claim) sure(c driver.Claim, o Outcome) time.Duration {
	ttl, ok := e.tenancy().Serves(c)
	if !ok {
		ttl = c.TTL
	}
	if o.Sure > 0 {
		ttl = min(ttl, o.Sure)
	}
	return ttl
}

// unlessWaiting answers about a claim that is in the queue. One that would not wait does not stay there.
func (t *task) unlessWaiting(e *claim, c driver.Claim, st driver.Status) (driver.Status, error) {
	if c.Queue || st.Granted {
		return st, nil
	}
	return driver.Status{}, t.leaveOut(e)
}

// leaveOut drops a claim that would not wait, and takes it out of the queue without a trace. Where an earlier attempt
// may still arrive, the ID is barred: that attempt would put the claim into the queue, where nobody knows of it any
// more. From then on the claim is left out for good, because a copy of this step may come late, too.
func (t *task) leaveOut(e *claim) error {
	if e.maybeQueued() {
		step := e.step(Leave)
		step.Token, step.Clean = e.Token(), e.isClean()
		if !step.Clean {
			e.leaveOut()
			step.Token, step.Bar, step.Keep, step.End = 0, true, e.Longest(), Tombstone{Released: true}
		}
		if o := t.ask(step); o.Err != nil && !errors.Is(o.Err, ErrSessionLost) {
			return undecided(o.Err)
		}
	}
	t.d.forget(e)
	return nil
}

// refuse drops a claim that is refused, and leaves nothing behind: this attempt or an earlier one may have put it into
// the queue before it turned out that it cannot be judged. Where it cannot be removed, it stays known until its time
// ends.
func (t *task) refuse(e *claim, refusal error) error {
	if err := t.leaveOut(e); err != nil {
		return err
	}
	return refusal
}
