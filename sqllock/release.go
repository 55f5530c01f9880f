package sqllock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Release implements [driver.Driver].
func (d *Driver) Release(ctx context.Context, c driver.Claim) error {
	err := d.do(ctx, func(t *tx) error {
		t.sweep()
		return t.release(c)
	})
	if err == nil || isAnswer(err) {
		d.posts.close(c.ID)
	}
	return err
}

func (t *tx) release(c driver.Claim) error {
	r, err := t.find(c.Name, c.ID)
	switch {
	case err != nil:
		return err
	case r == nil:
		return t.releaseEnded(c)
	case c.Token != 0 && c.Token != r.Token:
		return driver.ErrGone
	}
	return t.remove(*r, true)
}

// releaseEnded answers about a claim that is not in the queue. When its request may still be under way, it is barred.
func (t *tx) releaseEnded(c driver.Claim) error {
	barred, released, err := t.recall(c)
	switch {
	case err != nil:
		return err
	case released:
		return nil
	case !barred && c.Token == 0:
		if err := t.bury(c, false); err != nil {
			return err
		}
	}
	return driver.ErrGone
}

// remove ends a claim and grants what that makes grantable.
func (t *tx) remove(r row, released bool) error {
	if err := t.end(r, released); err != nil {
		return err
	}
	_, err := t.settle(r.Name)
	return err
}

// Break implements [driver.Breaker].
func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.do(ctx, func(t *tx) error {
		r, err := t.find(name, id)
		if err != nil {
			return err
		}
		if r == nil {
			return driver.ErrGone
		}
		t.tell(*r, false)
		return t.remove(*r, false)
	})
}

// Revoke implements [driver.Revoker].
func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.do(ctx, func(t *tx) error {
		if _, err := t.settle(name); err != nil {
			return err
		}
		r, err := t.find(name, id)
		if err != nil {
			return err
		}
		if r == nil || !r.granted {
			return driver.ErrGone
		}
		t.tell(*r, false)
		return t.exec(revokeRow, []byte(name), int64(r.Token))
	})
}
