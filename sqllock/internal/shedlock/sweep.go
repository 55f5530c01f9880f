package shedlock

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// sweepEvery is the number of releases of this client after which one of them sweeps.
const sweepEvery = 50

// sweep now and then deletes what is left of claims. What it cannot, the next one will.
func (c conn) sweep(ctx context.Context) {
	if c.driver.endings.Add(1)%sweepEvery == 0 {
		_, _ = c.do(ctx, "sweep", values{})
	}
}

// lastSweep is how long a client that is closed sweeps.
const lastSweep = time.Second

// sweepAtLast deletes what is left of claims, if this client has left some: clients that live for one lock alone would
// leave more and more.
func (d *Driver) sweepAtLast() {
	if d.endings.Load()%sweepEvery == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSweep)
	defer cancel()
	_ = d.with(ctx, func(conn conn) error {
		_, err := conn.do(ctx, "sweep", values{})
		return err
	})
}

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
