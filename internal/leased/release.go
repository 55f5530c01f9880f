package leased

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// release takes a claim out of the queue, as [driver.OpRelease] says.
func (t *task) release(c driver.Claim) error {
	e := t.d.claims.Known(c)
	if e == nil {
		return t.releaseOther(c)
	}
	t.d.unfollow(e) // its client knows what becomes of it
	if e.isGone() {
		if how := e.ending(); how != nil {
			return how.Release(c.Token)
		}
		return t.releaseOther(c)
	}
	if token := e.Token(); token != 0 && c.Token != 0 && c.Token != token {
		return driver.ErrGone
	} else if c.Token == 0 {
		c.Token = token
	}
	step := e.step(Leave)
	step.Token, step.Bar, step.Clean = c.Token, c.Token == 0, e.isClean() && e.Token() != 0
	step.End, step.Keep = Tombstone{Released: true, Token: c.Token}, e.Longest()
	o := t.ask(step)
	switch {
	case errors.Is(o.Err, ErrSessionLost):
		t.d.remember(e)
		return driver.ErrGone
	case o.Err != nil: // a claim whose release is lost is still taken out when it expires
		return o.Err
	case o.Done:
		t.d.left(e, step.End, o)
		return nil
	case step.Bar:
		t.d.forget(e)
	default:
		t.d.remember(e)
	}
	return releasedBefore(o, c.Token)
}

// left drops a claim that was taken out of the queue. What the store does not remember of its end, the engine does.
func (d *Engine) left(e *claim, how Tombstone, o Outcome) {
	if o.There != nil {
		d.forget(e)
		return
	}
	e.mu.Lock()
	e.how = &how
	e.mu.Unlock()
	d.claims.Remember(e)
	e.give()
}

// ending is how the claim ended, if the store was not told to remember that.
func (e *claim) ending() *Tombstone {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.how
}

// releasedBefore answers a release of a claim that was not in the queue.
func releasedBefore(o Outcome, token uint64) error {
	if o.There == nil || o.Found {
		return driver.ErrGone
	}
	return o.There.Release(token)
}

// releaseOther releases a claim that this client does not have: it has ended, or another client has requested it.
// Without a token it bars the ID, so that a request that is still under way finds that it is gone.
func (t *task) releaseOther(c driver.Claim) error {
	o := t.ask(Step{
		Act: Leave, Name: c.Name, ID: c.ID, Token: c.Token, Bar: c.Token == 0,
		End: Tombstone{Released: true, Token: c.Token}, Keep: max(c.TTL, leastKept),
	})
	if o.Err != nil || o.Done {
		return o.Err
	}
	return releasedBefore(o, c.Token)
}

// leastKept is for how long an end is remembered at least, where the TTL of the claim may not be known.
const leastKept = time.Second

// breakClaim ends a claim by force, as [driver.OpBreak] says.
func (t *task) breakClaim(c driver.Claim) error {
	o := t.ask(Step{Act: Leave, Name: c.Name, ID: c.ID, Keep: leastKept})
	if o.Err == nil && !o.Done {
		return driver.ErrGone
	}
	return o.Err
}

// revoke asks the holder of a claim to let go, as [driver.OpRevoke] says.
func (t *task) revoke(c driver.Claim) error {
	for {
		own, err := t.granted(c)
		switch {
		case err != nil:
			return err
		case own.Foreign:
			return driver.Unsupported(t.d.Traits(), "revoking a claim of another kind of client")
		case own.Revoked:
			return nil
		}
		own.Revoked = true
		o := t.ask(Step{Act: Rewrite, Name: c.Name, ID: c.ID, Place: own.Place, Version: own.Version, Seat: own})
		if o.Err != nil || o.Done {
			return o.Err
		}
	}
}

// granted returns a claim that is granted. ErrGone when there is none, or it waits.
func (t *task) granted(c driver.Claim) (Seat, error) {
	o := t.ask(Step{Act: Look, Name: c.Name, ID: c.ID, Token: c.Token, Ahead: lookAheadShared})
	switch {
	case o.Err != nil:
		return Seat{}, o.Err
	case !o.Found:
		return Seat{}, driver.ErrGone
	}
	v, _, err := t.judge(c.Name, o.Own, o)
	if err == nil && !v.Granted {
		err = driver.ErrGone
	}
	return o.Own, err
}
