package zklock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// breakClaim ends a claim by force, as [driver.OpBreak] says. A holder that is a client of another library may not
// notice before it has finished.
func (d *Driver) breakClaim(ctx context.Context, name, id string) error {
	c := driver.Claim{Name: name, ID: id}
	s, f, err := d.seek(ctx, c)
	switch {
	case err != nil:
		return err
	case !f.alive():
		return driver.ErrGone
	}
	err = d.finish(ctx, s, d.keys.queue(name)+"/"+f.seat.node, d.keys.note(name, id), taken, f.token)
	if isNoNode(err) {
		return driver.ErrGone
	}
	return err
}
