package sqlite

import (
	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) release(c driver.Claim) error {
	r, err := t.findLive(c.Name, c.ID)
	switch {
	case err != nil:
		return err
	case r == nil:
		return t.releaseAgain(c)
	case c.Token != 0 && c.Token != r.Token:
		return driver.ErrGone
	default:
		return t.remove(*r, true)
	}
}

// findLive finds a claim. If it is dead, findLive takes it out of its queue and returns nil.
func (t *tx) findLive(name, id string) (*row, error) {
	r, err := t.first(findClaim, []byte(name), id)
	if r == nil || err != nil || t.isAlive(*r) {
		return r, err
	}
	return nil, t.remove(*r, false)
}

// remove ends a claim and grants what that makes grantable.
func (t *tx) remove(r row, released bool) error {
	if err := t.end(r, released); err != nil {
		return err
	}
	_, err := t.settle(r.Name, nil)
	return err
}

// releaseAgain answers about a claim that is not queued. If its request may still be under way, it bars the ID.
func (t *tx) releaseAgain(c driver.Claim) error {
	token, released, known, err := t.recall(c)
	switch {
	case err != nil:
		return err
	case known && released && (c.Token == 0 || c.Token == token):
		return nil
	case !known && c.Token == 0:
		if err := t.remember(c, false); err != nil {
			return err
		}
	}
	return driver.ErrGone
}
