package zklock

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// revokeWord is what Curator's Revoker writes into the node of a holder that should let go.
const revokeWord = "__REVOKE__"

// revoke asks a holder to release the lock, as [driver.OpRevoke] says, in the way of Curator. A Curator lock is told if
// it was made revocable. Clients of other libraries cannot be asked.
func (d *Driver) revoke(ctx context.Context, name, id string) error {
	s, f, err := d.seek(ctx, driver.Claim{Name: name, ID: id})
	switch {
	case err != nil:
		return err
	case !f.alive() || !f.granted:
		return driver.ErrGone
	case f.seat.peer && !f.seat.asks:
		return driver.Unsupported(d.Traits(), "revoking a claim of this kind of client")
	}
	at := d.keys.queue(name) + "/" + f.seat.node
	_, err = call(ctx, s, func(c *zk.Conn) (*zk.Stat, error) { return c.Set(at, []byte(revokeWord), -1) })
	if isNoNode(err) {
		return driver.ErrGone
	}
	return err
}
