package shedlock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Reap implements [driver.Reaper]: it does at once what clients do bit by bit when they release. It leaves ShedLock's
// table alone, whose rows stay for good.
func (d *Driver) Reap(ctx context.Context, age time.Duration) (none []driver.Leftover, err error) {
	err = d.with(ctx, func(conn conn) error {
		for {
			if done, err := conn.do(ctx, "sweep", values{age: age}); err != nil || !done {
				return err
			}
		}
	})
	return nil, err
}

var _ driver.Reaper = (*Driver)(nil)
