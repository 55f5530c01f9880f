package advisory

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// request requests a claim. If a Wait for the same claim is at work, it waits for it, which does not take
// long.
func (d *Driver) request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if d.raw {
		if err := d.dialect.refuse(c.Name); err != nil {
			return driver.Status{}, err
		}
	}
	return d.whileFree(ctx, c, func(ctx context.Context, cl *claim) (driver.Status, error) {
		switch {
		case cl.phase == granted:
			return d.renew(ctx, c, cl)
		case cl.phase == over, c.Token != 0:
			return driver.Status{}, driver.ErrGone
		}
		return d.attempt(ctx, c, cl, false)
	})
}

// attempt asks for the lock for a claim that does not have it. If blocks is true, it waits for a while.
func (d *Driver) attempt(ctx context.Context, c driver.Claim, cl *claim, blocks bool) (st driver.Status, err error) {
	a, err := d.ask(ctx, c, cl, blocks)
	switch {
	case err != nil:
		return st, d.fail(c, cl, err)
	case a.ended:
		cl.drop()
		return st, driver.ErrGone
	case a.known && a.got: // the session that had it has ended
		return st, d.endUnheld(ctx, c, cl, "expired")
	case a.known:
		cl.drop()
		return st, fmt.Errorf("%w: another client holds the claim; in session mode only that client can renew it",
			driver.ErrRefused)
	case a.got:
		return d.grant(ctx, c, cl)
	case !c.Queue:
		cl.drop()
		return st, nil
	case cl.phase == unknown || !blocks:
		if err := cl.session.ask(ctx, "wait", d.values(c)); err != nil {
			return st, d.fail(c, cl, err)
		}
		cl.phase = waiting
	}
	return driver.Status{TTL: cl.session.ttl}, nil
}

// ask asks for the lock on the claim's session, or on a new one if that has ended while the claim waited.
func (d *Driver) ask(ctx context.Context, c driver.Claim, cl *claim, blocks bool) (a answer, err error) {
	if cl.session != nil {
		err := cl.session.leaseFor(ctx, c.TTL)
		if err == nil {
			a, err = cl.session.lock(ctx, d.values(c), blocks)
		}
		if err == nil || errors.Is(err, driver.ErrRefused) {
			return a, err
		}
		cl.drop()
	}
	if cl.session, err = d.openFor(ctx, cl, c.TTL); err != nil {
		return a, err
	}
	return cl.session.lock(ctx, d.values(c), false)
}

// grant notes that the session has the lock, under a new token.
func (d *Driver) grant(ctx context.Context, c driver.Claim, cl *claim) (st driver.Status, err error) {
	var token uint64
	var ended, contended bool
	if cl.phase == waiting { // it does not any more, for whoever asks
		err = cl.session.ask(ctx, "unwait", d.values(c))
	}
	if err == nil {
		err = cl.session.ask(ctx, "grant", d.values(c), &token, &ended, &contended)
	}
	if err != nil {
		return st, d.fail(c, cl, err)
	}
	if ended {
		return st, d.endUnheld(ctx, c, cl, "expired")
	}
	cl.phase, cl.token = granted, token
	return driver.Status{Token: token, Granted: true, TTL: cl.session.ttl, Contended: contended}, nil
}

// renew asks something on the claim's session: by that the session lives for another TTL.
func (d *Driver) renew(ctx context.Context, c driver.Claim, cl *claim) (st driver.Status, err error) {
	if c.Token != 0 && c.Token != cl.token {
		return st, driver.ErrGone
	}
	var id int64
	var held, ended, contended bool
	err = cl.session.leaseFor(ctx, c.TTL)
	if err == nil {
		err = cl.session.ask(ctx, "renew", d.values(c), &id, &held, &ended, &contended)
	}
	switch {
	case err != nil:
		return st, d.fail(c, cl, err)
	case cl.session.isStill(id) != nil:
		return st, d.lose(c, cl, cl.session.isStill(id))
	case !held || ended:
		return st, d.lose(c, cl, errors.New("another client ended it"))
	}
	return driver.Status{Token: cl.token, Granted: true, TTL: cl.session.ttl, Contended: contended}, nil
}

// endUnheld notes the end of a claim of which nobody was told that it was granted. Unless it was released, it is gone.
func (d *Driver) endUnheld(ctx context.Context, c driver.Claim, cl *claim, state string) error {
	v := d.values(c)
	v.state = state
	err := cl.session.ask(ctx, "end", v)
	cl.drop()
	if err == nil && state != "released" {
		err = driver.ErrGone
	}
	return err
}

func (d *Driver) values(c driver.Claim) values {
	return values{claim: c, row: d.row(c.Name), wait: d.waitFor(c.TTL), keep: d.keep}
}
