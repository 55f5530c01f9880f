package sqlite

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once and completely what sweeps do bit by bit.
func (d *Driver) Reap(ctx context.Context, age time.Duration) ([]driver.Leftover, error) {
	s := sweep{age: age, keep: age, clients: d.client.others()}
	for more := true; more; {
		before := s
		err := d.transact(ctx, func(t *tx) (err error) {
			s = before // also when the transaction is begun again
			more, err = s.step(t)
			return err
		})
		if err != nil {
			return before.removed, err
		}
	}
	return s.removed, nil
}
