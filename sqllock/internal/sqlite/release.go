package sqlite

import (
	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) release(c driver.Claim) error {
	r := t.findLive(c.Name, c.ID)
	switch {
	case r == nil:
		return t.releaseAgain(c)
	case c.Token != 0 && c.Token != r.Token:
		return driver.ErrGone
	}
	t.remove(*r, true)
	return nil
}

// findLive finds a claim. If it is dead, findLive takes it out of its queue and returns nil.
func (t *tx) findLive(name, id string) *row {
	r := t.first("find", []byte(name), id)
	if r != nil && !t.isAlive(*r) {
		t.remove(*r, false)
		return nil
	}
	return r
}

// remove ends a claim and grants what that makes grantable.
func (t *tx) remove(r row, released bool) {
	t.end(r, released)
	t.settle(r.Name, nil)
}

// releaseAgain answers about a claim that is not queued. If its request may still be under way, it bars the ID.
func (t *tx) releaseAgain(c driver.Claim) error {
	token, released, known := t.recall(c)
	switch {
	case known && released && (c.Token == 0 || c.Token == token):
		return nil
	case !known && c.Token == 0:
		t.remember(c, false)
	}
	return driver.ErrGone
}

func (t *tx) breakClaim(name, id string) error {
	r := t.findLive(name, id)
	if r == nil {
		return driver.ErrGone
	}
	t.remove(*r, false)
	return nil
}

func (t *tx) revoke(name, id string) error {
	t.settle(name, nil)
	r := t.findLive(name, id)
	if r == nil || !r.granted {
		return driver.ErrGone
	}
	t.wake(*r)
	t.outlives(*r)
	t.exec("revoke", []byte(name), int64(r.Token))
	return nil
}
