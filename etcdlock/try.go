package etcdlock

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// try puts the claim into the queue only if it is granted there; otherwise nobody sees it. One transaction does
// that when the queue is empty. When it is not, those ahead are read, and the claim is put if none came after
// them. Where others keep coming, it is put behind them: see unlessWaiting.
func (d *Driver) try(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	r := d.newRecord(c)
	bounds := leased.NoBounds().Add(r.seat())
	none := noneSince(e.queue, 1)
	for range tries {
		answer, err := e.commit(ctx,
			[]*pb.Compare{none, absent(e.tombstone)},
			[]*pb.RequestOp{e.putOp(r)},
			[]*pb.RequestOp{getOp(e.key), getOp(e.tombstone), e.newestOp(r)})
		if err != nil {
			return driver.Status{}, explain(err)
		}
		if answer.Succeeded {
			return d.took(e, answer.Header.Revision, bounds), nil
		}
		if isThere(answer.Responses[0]) || isThere(answer.Responses[1]) {
			return d.found(ctx, e, c, answer)
		}
		judged, err := d.wouldFit(ctx, e, r, answer)
		switch {
		case err != nil:
			return driver.Status{}, err
		case !judged.Granted:
			return driver.Status{}, d.leaveOut(ctx, e)
		}
		bounds = judged.Bounds
		none = noneSince(e.queue, answer.Header.Revision+1)
	}
	return d.enqueue(ctx, e, c)
}

// tries is how often a claim that would not wait is put where nobody has come meanwhile.
const tries = 4

// unlessWaiting answers about a claim that is in the queue. One that would not wait does not stay there.
func (d *Driver) unlessWaiting(
	ctx context.Context, e *claim, c driver.Claim, st driver.Status, err error,
) (driver.Status, error) {
	if c.Queue || err != nil || st.Granted || st.Token == 0 {
		return st, err
	}
	return driver.Status{}, d.leaveOut(ctx, e)
}

// leaveOut drops a claim that would not wait, and takes it out of the queue. Where an earlier attempt may still
// arrive, the ID is barred: that attempt would put the claim into the queue, where nobody knows of it any more.
// From then on the claim is left out for good.
func (d *Driver) leaveOut(ctx context.Context, e *claim) error {
	if !e.maybeQueued() {
		d.forget(e)
		return nil
	}
	e.beLeftOut()
	if err := d.undo(ctx, e); !answersGone(err) {
		return err
	}
	return nil
}

// beLeftOut notes that a step is about to be sent that takes the claim out of the queue, and bars its ID.
func (e *claim) beLeftOut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leftOut = true
}

// isLeftOut reports whether such a step was sent. It may arrive late, and would take the claim away from a holder:
// so no request is granted the lock under this ID any more.
func (e *claim) isLeftOut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leftOut
}

// took answers about a claim that was put where it is granted.
func (d *Driver) took(e *claim, revision int64, bounds leased.Bounds) driver.Status {
	e.Answered(uint64(revision))
	return e.Note(leased.Reading{Verdict: leased.Verdict{Granted: true, Bounds: bounds}, Revision: revision})
}

// wouldFit judges the claim as if it came behind those that the transaction read.
func (d *Driver) wouldFit(
	ctx context.Context, e *claim, r record, answer *pb.TxnResponse,
) (leased.Verdict, error) {
	revision := answer.Header.Revision
	v, err := d.view(e, revision, answer.Responses[2].GetResponseRange())
	if err != nil {
		return leased.Verdict{}, err
	}
	v.own = seat{record: r, token: uint64(revision) + 1}
	return d.judge(ctx, e, v)
}
