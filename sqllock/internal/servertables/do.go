package servertables

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// kinds are the operations that the driver does.
var kinds = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpRevoke, driver.OpSetValue,
	driver.OpValue, driver.OpQueue, driver.OpWatch)

// Do implements [driver.Driver]. Claims that may have their locks to themselves are requested and released in one
// statement, and renewals are another one. Everything else goes by itself, so that nothing waits for the row of a lock
// that is not its own.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	answer := func(i int, r driver.Result) {
		d.followers.Note(batch[i], r)
		done(i, r)
	}
	if len(batch) == 1 && !batch[0].Brief {
		answer(0, d.do(ctx, batch[0]))
		return
	}
	var g driver.Group
	alone := func(i int) { g.Go(func() { answer(i, d.do(ctx, batch[i])) }) }
	renewals, together, others := d.divide(batch)
	if len(renewals) > 0 {
		g.Go(func() { d.renewAll(ctx, batch, renewals, answer) })
	}
	for _, i := range others {
		alone(i)
	}
	for some := range slices.Chunk(together, mostTogether) {
		for _, i := range d.doTogether(ctx, batch, some, answer) {
			alone(i)
		}
	}
	g.Wait()
}

// divide tells the places of operations that go together from those that go by themselves.
func (d *Driver) divide(batch []driver.Op) (renewals, together, others []int) {
	names := make(map[string]bool, len(batch))
	for i := range batch {
		op := &batch[i]
		switch {
		case op.Kind == driver.OpRequest && op.Brief:
			renewals = append(renewals, i)
		case !names[op.Claim.Name] && d.mayBeAlone(op):
			names[op.Claim.Name] = true
			together = append(together, i)
		default:
			others = append(others, i)
		}
	}
	if len(together) == 1 {
		return renewals, nil, append(others, together...)
	}
	return renewals, together, others
}

// A batch is one statement for so many claims at most, which then wait for it, and none of them with longer texts.
const (
	mostTogether = 128
	longTogether = 1024
)

// mayBeAlone reports whether an operation is about a claim that may have its lock to itself: nothing that this client
// knows says that others wait.
func (d *Driver) mayBeAlone(op *driver.Op) bool {
	c := &op.Claim
	switch {
	case op.Kind == driver.OpRequest && c.Token == 0 && !c.Detached && len(c.Owner)+len(c.Value) <= longTogether:
		return !d.following.awaits(c.Name)
	case op.Kind == driver.OpRelease && c.Token != 0:
		return !d.following.awaits(c.Name) && d.requests.wakeLane(c.ID) == nil
	}
	return false
}

// do makes one attempt at an operation.
func (d *Driver) do(ctx context.Context, op driver.Op) driver.Result {
	return driver.Handlers{
		Traits: d.Traits, Request: d.request, Release: d.release, Break: d.breakClaim, Revoke: d.revoke,
		SetValue: d.setValue, Value: d.value, Queue: d.queue, Watch: d.followers.Watch,
	}.Do(ctx, op)
}

// Subscribe implements [driver.Driver].
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }
