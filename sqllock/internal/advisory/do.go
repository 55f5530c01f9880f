package advisory

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Do implements [driver.Driver]. Each claim has a session of its own, so there is nothing to gain from a batch.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	driver.DoEach(batch, done, func(op driver.Op) driver.Result {
		r := driver.Handlers{
			Traits: d.Traits, Request: d.request, Release: d.release, Watch: d.followers.Watch,
		}.Do(ctx, op)
		d.followers.Note(op, r)
		return r
	})
}

// Subscribe implements [driver.Driver]. A claim that is followed has a goroutine beside its session: see Wait.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }

var _ driver.Driver = (*Driver)(nil)
