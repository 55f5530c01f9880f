package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// inTables are the operations that are done in a transaction; the driver also does [driver.OpWatch].
var inTables = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpRevoke, driver.OpSetValue,
	driver.OpValue, driver.OpQueue)

// Do implements [driver.Driver]. A batch is one transaction, so the disk is waited for once.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	results := make([]driver.Result, len(batch))
	if err := d.doTogether(ctx, batch, results); err != nil {
		for i := range results {
			results[i] = driver.Result{Err: err}
		}
	}
	for i := range slices.Backward(batch) {
		defer d.answer(ctx, i, &batch[i], results[i], done) // deferred: a panic about one claim is not in others' way
	}
}

// answer passes a result on, once the claim is followed, or not any more, as it says.
func (d *Driver) answer(
	ctx context.Context, i int, op *driver.Op, r driver.Result, done func(int, driver.Result),
) {
	switch {
	case op.Kind == driver.OpWatch:
		r.Err = d.followers.Watch(ctx, op.Claim.Name)
	case !d.traits.Ops.Has(op.Kind):
		r.Err = driver.Unsupported(d.traits, op.Kind.String())
	default:
		d.followers.Note(*op, r)
	}
	done(i, r)
}

// doTogether does the operations of a batch in order, in one transaction. If there is an error, none was done.
func (d *Driver) doTogether(ctx context.Context, batch []driver.Op, results []driver.Result) error {
	if !slices.ContainsFunc(batch, func(op driver.Op) bool { return inTables.Has(op.Kind) }) {
		return nil
	}
	return d.transact(ctx, func(t *tx) {
		d.writes += len(batch) - 1
		for i := range batch {
			if results[i] = t.do(&batch[i]); t.err != nil {
				t.err = spoiled(t.err, len(batch))
				return
			}
		}
	})
}

// spoiled is the error of a batch in which one operation failed without an answer. The row of one lock may be
// damaged, which must not concern the others. So all of them go alone, unless it is not the operation that is in the
// way.
func spoiled(err error, batch int) error {
	if batch == 1 || IsBusy(err) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrBatchRejected, err)
}

// do does one operation. The error in its result is an answer, which leaves nothing half done.
func (t *tx) do(op *driver.Op) (r driver.Result) {
	c := op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = t.request(c)
	case driver.OpRelease:
		r.Err = t.release(c)
	case driver.OpBreak:
		r.Err = t.breakClaim(c.Name, c.ID)
	case driver.OpRevoke:
		r.Err = t.revoke(c.Name, c.ID)
	case driver.OpSetValue:
		r.Err = t.setValue(c, op.Value)
	case driver.OpValue:
		if r.Value = t.value(c.Name); r.Value.Text == "" {
			r.Value = driver.Value{}
		}
	case driver.OpQueue:
		r.Queue = t.queue(c.Name, op.Most)
	}
	return r
}

// Subscribe implements [driver.Driver].
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) { return d.followers.Subscribe(tell) }
