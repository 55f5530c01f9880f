package advisory

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// release releases a claim.
func (d *Driver) release(ctx context.Context, c driver.Claim) error {
	_, err := d.whileFree(ctx, c, func(ctx context.Context, cl *claim) (st driver.Status, err error) {
		switch {
		case cl.phase == granted && (c.Token == 0 || c.Token == cl.token):
			return st, d.letGo(ctx, c, cl)
		case cl.phase == waiting && c.Token == 0:
			return st, d.endUnheld(ctx, c, cl, "released")
		case cl.phase == granted, cl.phase == waiting:
			return st, driver.ErrGone
		case cl.phase == over && (c.Token == 0 || c.Token == cl.token):
			cl.hangUp() // now the holder knows that it is over
		}
		return st, d.releaseElsewhere(ctx, c, cl)
	})
	return err
}

// letGo frees the lock. After an error it asks on another session what became of the lock, because its own session
// may have ended long before.
func (d *Driver) letGo(ctx context.Context, c driver.Claim, cl *claim) error {
	v := d.values(c)
	v.token = cl.token
	var held bool
	err := cl.session.ask(ctx, "release", v, &held)
	if err == nil && rand.N(sweepEvery) == 0 {
		_ = cl.session.ask(ctx, "sweep", v) // the next one sweeps what this one left
	}
	cl.drop()
	switch {
	case err != nil:
		return d.releaseElsewhere(ctx, c, cl)
	case !held:
		return driver.ErrGone
	}
	return nil
}

// sweepEvery is the number of releases of which one sweeps. Which one is left to chance, because many clients release
// one lock in their lives.
const sweepEvery = 50

// releaseElsewhere releases a claim for which this client has no session: one that has ended, one of another client,
// or one that never came into being.
func (d *Driver) releaseElsewhere(ctx context.Context, c driver.Claim, cl *claim) error {
	s, err := d.openFor(ctx, cl, c.TTL)
	if err != nil {
		return err
	}
	defer s.close()
	v := d.values(c)
	var token uint64
	switch err := s.ask(ctx, "ended", v, &v.state, &token, &v.session); {
	case err == nil && v.state == "waiting" && c.Token == 0:
		v.state = "released"
		return s.ask(ctx, "end", v)
	case err == nil && v.state == "released" && (c.Token == 0 || c.Token == token):
		return s.evict(ctx, v) // its release may have been cut off before the lock was free
	case err == nil:
		return driver.ErrGone
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return d.releaseHeld(ctx, s, v)
}

// releaseHeld releases a claim that has not ended as far as the tables say.
func (d *Driver) releaseHeld(ctx context.Context, s *session, v values) error {
	var held bool
	v.state = "expired"
	err := s.ask(ctx, "held", v, &v.token, &v.session, &held)
	isMissing := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !isMissing:
		return err
	case v.claim.Token != 0 && (isMissing || v.claim.Token != v.token):
		return driver.ErrGone
	case held: // its end is noted before its session ends: without a note it would count as expired
		v.state = "released"
	}
	switch err := s.ask(ctx, "end", v); {
	case err != nil:
		return err
	case held:
		return s.evict(ctx, v)
	}
	return driver.ErrGone
}

// evict ends another session if that has the lock, and waits until the lock is free.
func (s *session) evict(ctx context.Context, v values) error {
	for {
		var holds bool
		if err := s.ask(ctx, "holds", v, &holds); err != nil || !holds {
			return err
		}
		killed := s.ask(ctx, "kill", v) // it fails where the session has ended
		if err := driver.Sleep(ctx, 5*time.Millisecond); err != nil {
			return errors.Join(killed, err)
		}
	}
}
