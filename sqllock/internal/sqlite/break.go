package sqlite

import (
	"github.com/holdfast-go/holdfast/driver"
)

func (t *tx) breakClaim(name, id string) error {
	r, err := t.findLive(name, id)
	switch {
	case err != nil:
		return err
	case r == nil:
		return driver.ErrGone
	default:
		return t.remove(*r, false)
	}
}

func (t *tx) revoke(name, id string) error {
	if _, err := t.settle(name, nil); err != nil {
		return err
	}
	r, err := t.findLive(name, id)
	switch {
	case err != nil:
		return err
	case r == nil || !r.granted:
		return driver.ErrGone
	}
	t.wake(*r)
	t.outlives(*r)
	return t.exec(revokeClaim, []byte(name), int64(r.Token))
}
