package leased

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// An inquiry is how much is read of a claim: one that is granted needs none of those ahead, because nothing can come
// ahead of it any more, and a brief one of a claim that waits only what it waits for.
type inquiry struct {
	verdict Verdict // what is known already
	brief   bool    // only the claim, and what it waits for
	held    bool    // only the claim, and whether others are behind it
}

func (e *claim) inquiry(brief bool) inquiry {
	q := inquiry{verdict: e.Verdict()}
	q.held = q.verdict.Granted && (e.exclusive || e.Bounds() != Bounds{})
	q.brief = !q.held && brief && tellsOfAll(q.verdict)
	return q
}

// tellsOfAll reports whether a claim waits while what it waits for is as it was. So it is where that is the end of a
// claim. That the claim just ahead is granted is written down by the client of that one, which may hang. Whoever waits
// for it and has few ahead reads them all; behind many, thousands may wait, and each believes the one just ahead, since
// to read some of a queue may cost the server as much as to read all of it.
func tellsOfAll(v Verdict) bool {
	switch {
	case v.Granted, v.Watch == "", v.Until == AnyEnd:
		return false
	case v.Until == ItsTurn:
		return !v.Few
	default:
		return true
	}
}

// look has the store read a claim, and with extend keep its session alive for that long.
func (t *task) look(e *claim, q inquiry, extend *driver.Claim) Outcome {
	step := e.step(Look)
	step.Token = e.Token()
	switch {
	case q.brief:
		step.Blocker = q.verdict.Watch
	case !q.held:
		step.Ahead = lookAheadShared
	}
	if extend != nil {
		step.Session, step.Live, step.Keep = e.tenancy().Session, extend.TTL, e.keep()
	}
	return t.ask(step)
}

// renew renews a claim that was answered before.
func (t *task) renew(e *claim, op driver.Op) (driver.Status, error) {
	at, sent := e.tenancy(), Now()
	due := t.d.takeDue(e)
	st, err := t.renewOnce(e, op, at, sent)
	if err != nil && due {
		t.d.markDue(e) // a renewal that was answered later may have read before what led to this look
	}
	switch {
	case (errors.Is(err, ErrSessionLost) || err == errExpired) && op.Claim.Token != 0:
		t.d.remember(e)
		return t.takeOver(e, op) // another client may keep it, or it was never moved to the session that was lost
	case errors.Is(err, ErrSessionLost), errors.Is(err, driver.ErrGone):
		t.d.remember(e)
		return driver.Status{}, driver.ErrGone
	case errors.Is(err, ErrPast) && e.IsGranted():
		// A holder counts as one that lost its lock: a store that was restored may grant that to others. Its claim is
		// taken out of the queue, in case it is there.
		e.expire()
		return driver.Status{}, fmt.Errorf("%w: %w", driver.ErrGone, err)
	case errors.Is(err, errLeftAlone):
		return st, nil
	case err != nil:
		return driver.Status{}, undecided(err)
	}
	return st, nil
}

// errExpired says that the time of a claim has come here while it was renewed: it is being taken out of the queue,
// unless another client keeps it.
var errExpired = fmt.Errorf("%w: nobody renewed it in time", driver.ErrGone)

// errLeftAlone says that a claim stays as it is, because it was left alone after the request was sent.
var errLeftAlone = errors.New("the claim was left alone")

// renewOnce looks at a claim while its session is kept alive, and moves it to another one if need be.
func (t *task) renewOnce(e *claim, op driver.Op, at tenancy, sent Instant) (driver.Status, error) {
	c, q := op.Claim, e.inquiry(op.Brief)
	extend := &c
	if at.own && !c.Detached {
		extend = nil // it was sent before the claim was left alone
	}
	o := t.look(e, q, extend)
	full := errors.Is(o.Err, ErrSessionFull)
	if full {
		o = t.look(e, q, nil)
	}
	switch {
	case o.Err != nil:
		return driver.Status{}, o.Err
	case !o.Found:
		return driver.Status{}, driver.ErrGone
	}
	var left error
	_, serves := at.Serves(c)
	if full || !serves || o.Own.Detached != c.Detached || o.Own.Session != at.ID() {
		moved, err := t.move(e, o.Own, c, full)
		if err != nil && err != errLeftAlone {
			return driver.Status{}, err
		}
		left, o.Own = err, moved
	}
	st, err := t.conclude(e, q, o)
	if err != nil {
		return driver.Status{}, err
	}
	if left != nil {
		st.TTL = 1 // where another client keeps it, only that one knows
		if at.own && o.Own.Session == at.ID() {
			st.TTL = e.Remaining()
		}
		return st, left
	}
	if !e.Live(e.sure(c, o), sent) {
		return driver.Status{}, errExpired
	}
	st.TTL = e.Status().TTL
	return st, nil
}

// conclude notes what was read, and answers about the claim. When what it waited for has ended, that takes another
// look.
func (t *task) conclude(e *claim, q inquiry, o Outcome) (driver.Status, error) {
	switch {
	case e.IsGranted():
		t.d.markAgain(e, o)
		return e.note(Verdict{Granted: true}, o), nil
	case q.brief && isBlocked(q, o):
		o.Behind = e.IsFollowed()
		return e.note(q.verdict, o), nil
	case q.brief:
		if o = t.look(e, inquiry{}, nil); o.Err != nil {
			return driver.Status{}, o.Err
		}
		if !o.Found {
			return driver.Status{}, driver.ErrGone
		}
	}
	return t.settle(e, o)
}

// isBlocked reports whether what a claim waits for is as it was.
func isBlocked(q inquiry, o Outcome) bool {
	if len(o.Ahead) == 0 || o.Ahead[0].Token >= o.Own.Token {
		return false
	}
	return q.verdict.Until != ItsTurn || o.Ahead[0].Fits == nil
}

// settle judges what was read of a claim and those ahead, notes what follows, and answers about it.
func (t *task) settle(e *claim, o Outcome) (driver.Status, error) {
	v, ahead, err := t.judge(e.Name, o.Own, o)
	if err != nil {
		return driver.Status{}, err
	}
	if v.Granted && t.d.isWorthMarking(o, ahead) {
		t.d.mark(e, o.Own, v.Bounds)
	}
	return e.note(v, o), nil
}

func (e *claim) note(v Verdict, o Outcome) driver.Status {
	return e.Note(Reading{Verdict: v, Behind: o.Behind, Revoked: o.Own.Revoked, Revision: o.Revision})
}
