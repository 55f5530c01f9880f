package claims

import (
	"context"
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/driver"
)

// aside lets f use a connection on which no request waits, again while others are in the way. Where the caller's pool has
// none to spare it is the one of the requests, in turn.
func (d *Driver) aside(ctx context.Context, f func(context.Context, *conn) error) error {
	c, err := d.resting.give(ctx)
	if err != nil {
		return inTurn(ctx, d.session, f)
	}
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		err := f(ctx, c)
		switch {
		case err == nil:
			d.resting.take(c)
			return nil
		case d.dialect.isBusy(err) && driver.Sleep(ctx, rand.N(pause)) == nil:
		default:
			c.close() // it is of no use, whatever that says
			return d.dialect.explain(err)
		}
	}
}
