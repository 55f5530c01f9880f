package leased

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// takeOver renews a claim that another client has requested, and keeps it from then on. before is what was known of the
// claim here, or nil: while that is on its way out of the queue, nobody takes it over from where it was.
func (t *task) takeOver(before *claim, op driver.Op) (driver.Status, error) {
	c := op.Claim
	if !t.d.moves() {
		return driver.Status{}, driver.ErrGone // it is none of this client's, or not any more
	}
	o := t.ask(Step{Act: Look, Name: c.Name, ID: c.ID, Token: c.Token})
	switch {
	case o.Err != nil:
		return driver.Status{}, undecided(o.Err)
	case !o.Found, before != nil && before.IsLeaving() && before.mayLiveIn(o.Own.Session):
		return driver.Status{}, driver.ErrGone
	}
	return t.takeUp(op, o.Own)
}

// errElsewhere is no answer: the claim ends with a session that this client does not keep, and a later request may
// queue it again.
var errElsewhere = errors.New("the claim is queued by a session that this client has lost, or by another client; " +
	"it can be queued again when that session has ended")

// takeUp notes a claim that was found in the queue, and renews it.
func (t *task) takeUp(op driver.Op, found Seat) (driver.Status, error) {
	if !t.d.moves() {
		return driver.Status{}, errElsewhere
	}
	at, err := t.session(op.Claim)
	if err != nil {
		return driver.Status{}, undecided(err)
	}
	e := t.d.enter(op.Claim, at, &found)
	st, err := t.renew(e, op)
	return st, undecided(err)
}

// move moves a claim to a session that serves it as the request says, because that is another one than before, or the
// claim was another client's. It returns the seat as it is then.
func (t *task) move(e *claim, own Seat, c driver.Claim, full bool) (Seat, error) {
	if !t.d.moves() {
		return own, fmt.Errorf("%w: a claim that was requested with a TTL of %v cannot be renewed with one of %v; "+
			"request it with the longer TTL", driver.ErrRefused, own.TTL, c.TTL)
	}
	if own.Detached && !c.Detached {
		return own, errLeftAlone
	}
	to := e.tenancy()
	if _, serves := to.Serves(c); !serves || full || !to.IsAlive() {
		var err error
		if to, err = t.session(c); err != nil {
			return own, undecided(err)
		}
	}
	if !e.moving(to, c.TTL) {
		e.notMoved(to)
		return own, errExpired
	}
	for {
		step := e.step(Rewrite)
		step.Place, step.Version, step.Seat = own.Place, own.Version, own
		step.Session, step.Live, step.Seat.TTL, step.Seat.Detached = to.Session, c.TTL, c.TTL, c.Detached
		// A request with a longer TTL may be late, also when this client is gone.
		if longest := e.HadTTL(own.TTL); longest > c.TTL {
			step.Keep = longest
		}
		o := t.ask(step)
		switch {
		case o.Err == nil && o.Done:
			e.moved(to, step.Keep > 0)
			return o.Own, nil
		case o.Err != nil && isUnknown(o.Err):
			return own, o.Err
		case o.Err == nil && o.Found && o.Own.Token == own.Token && (!o.Own.Detached || c.Detached):
			own = o.Own // somebody was quicker
			continue
		}
		e.notMoved(to)
		switch {
		case o.Err != nil:
			return own, undecided(o.Err) // the claim is where it was
		case !o.Found || o.Own.Token != own.Token:
			return own, driver.ErrGone
		default:
			return o.Own, errLeftAlone
		}
	}
}
