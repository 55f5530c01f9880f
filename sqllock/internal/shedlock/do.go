package shedlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// kinds are the operations that ShedLock's table allows.
var kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpQueue, driver.OpWatch)

// Do implements [driver.Driver]. Each operation is a dialogue of several statements, each of which commits by
// itself, so there is nothing to gain from a batch.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	driver.DoEach(batch, done, func(op driver.Op) driver.Result {
		r := driver.Handlers{
			Traits: d.Traits, Request: d.request, Release: d.release, Break: d.breakClaim,
			Queue: d.queue, Watch: d.followers.Watch,
		}.Do(ctx, op)
		d.followers.Note(op, r)
		return r
	})
}

// Subscribe implements [driver.Driver]. A claim that waits, or is followed, is looked at now and then: see Wait.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }

var _ driver.Driver = (*Driver)(nil)
