package claims

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Request implements [driver.Driver].
func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	st, err := run(ctx, d.session, func(ctx context.Context, conn *conn) (driver.Status, error) {
		bells := &d.session.bells
		hang := bells.wanted(c.ID)
		a, err := conn.ask(ctx, requestClaim, []byte(c.Name), c.ID, int64(c.Token), c.Weight, c.Limit, asked(c),
			c.Queue, []byte(c.Owner), []byte(c.Value), hang)
		if err != nil {
			return driver.Status{}, err
		}
		d.sweeper.wrote.Store(true)
		bells.answered(c, hang, a)
		return a.status, a.err()
	})
	d.posts.answered(c, st, err)
	return st, err
}
