package shedlock

import (
	"context"
	"time"
)

// sweepEvery is the number of releases of this client after which one of them sweeps.
const sweepEvery = 50

// sweep now and then deletes what is left of claims. What it cannot, the next one will.
func (c conn) sweep(ctx context.Context) {
	if c.driver.endings.Add(1)%sweepEvery == 0 {
		_, _ = c.do(ctx, sweep, values{})
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
		_, err := conn.do(ctx, sweep, values{})
		return err
	})
}
