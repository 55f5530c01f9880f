package etcdlock

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// Do implements [driver.Driver]. First requests and releases of different locks are parts of one transaction, which
// does all of them or none. Where it does none, each is sent alone. For claims that are only kept alive there is one
// keep-alive for each of their leases, and a look at each claim in as few transactions as etcd allows.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	tell := func(at int, r driver.Result) {
		d.followers.Note(batch[at], r)
		done(at, r)
	}
	leased.Do(batch, tell, leased.Ways[part, renewal]{
		Part:     d.part,
		Together: func(parts []*part, tell func(int, driver.Result)) { d.doTogether(ctx, parts, tell) },
		Renewal:  func(at int, op *driver.Op) *renewal { return d.renewal(ctx, at, op) },
		Renew:    func(renewals []*renewal, tell func(int, driver.Result)) { d.renewTogether(ctx, renewals, tell) },
		Alone:    func(op driver.Op) driver.Result { return d.do(ctx, op) },
	})
}

// do makes one attempt at an operation.
func (d *Driver) do(ctx context.Context, op driver.Op) (r driver.Result) {
	if r.Err = d.open(ctx); r.Err != nil {
		return r
	}
	return driver.Handlers{
		Traits: d.Traits, Request: d.request, Release: d.release, Break: d.breakClaim, Revoke: d.revoke,
		SetValue: d.setValue, Value: d.value, Queue: d.queue, Watch: d.followers.Watch,
	}.Do(ctx, op)
}

// Subscribe implements [driver.Driver].
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }
