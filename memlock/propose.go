package memlock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Propose implements [driver.Proposer]. A claim whose first proposal is refused gets a token from the clock.
func (d *Driver) Propose(ctx context.Context, c driver.Claim, token uint64) (st driver.Status, err error) {
	c.Queue = false
	err = d.store.use(ctx, c.Name, func(l *lock) (err error) {
		greatest := l.last
		if st, err = l.request(c); err != nil {
			return err
		}
		st.Token = l.settle(c.ID, st.Granted, token, greatest)
		return nil
	})
	return st, err
}

// Vote implements [driver.Voter]. A store has one life: it ends with the process.
func (d *Driver) Vote(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	st, err := d.Propose(ctx, c, token)
	return st, d.store.inLife(), err
}

// Life implements [driver.Living].
func (d *Driver) Life(ctx context.Context) (driver.Life, error) { return d.store.inLife(), ctx.Err() }

func (s *store) inLife() driver.Life { return driver.Life{ID: s.life, Age: time.Since(s.began)} }

// settle gives a granted claim the token when it may have it, and returns the claim's token, or else the greatest.
func (l *lock) settle(id string, granted bool, token, greatest uint64) uint64 {
	if !granted {
		return l.last
	}
	place, _ := l.find(driver.Claim{ID: id})
	switch own := &l.queue[place].Token; {
	case token > greatest:
		*own = token
		l.last = token
		return token
	case token == *own:
		return token
	default:
		return l.last
	}
}
