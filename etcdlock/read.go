package etcdlock

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A view is a claim with those ahead of it, as read at one revision.
type view struct {
	revision int64
	own      seat
	ahead    line
	behind   bool // others are behind it
	partial  bool // behind was not read
	blocked  bool // what it waited for is as it was; only where no more was read
}

// A line is claims ahead of another one, newest first.
type line struct {
	seats    []seat
	complete bool // none are left out
}

// newestAhead reads the newest claims that came before this token.
func (e *claim) newestAhead(token uint64, n int64) *pb.RangeRequest {
	r := newestFirst(e.queue, n)
	r.MaxCreateRevision = int64(token) - 1
	return r
}

// lastOp reads which claim came last, and of it no more than that.
func (e *claim) lastOp() *pb.RequestOp {
	r := newestFirst(e.queue, 1)
	r.KeysOnly = true
	return readOp(r)
}

func isThere(r *pb.ResponseOp) bool { return len(r.GetResponseRange().GetKvs()) > 0 }

// view reads the answer to a question for the newest claims.
func (d *Driver) view(e *claim, revision int64, r *pb.RangeResponse) (view, error) {
	ahead, err := d.line(e, r)
	return view{revision: revision, ahead: ahead}, err
}

func (d *Driver) line(e *claim, r *pb.RangeResponse) (line, error) {
	seats, err := d.seats(e.queue, r.Kvs)
	return line{seats: seats, complete: !r.More}, err
}

// judge judges the claim of a view. Where the claims ahead that were read do not suffice, it reads more of them.
func (d *Driver) judge(ctx context.Context, e *claim, v view) (leased.Verdict, error) {
	for n := int64(leased.LookAheadShared); ; n *= leased.LookAheadGrowth {
		if judged, ok := leased.JudgeNewest(v.own.seat(), leasedSeats(v.ahead.seats), v.ahead.complete); ok {
			return judged, nil
		}
		answer, err := d.get(ctx, e.newestAhead(v.own.token, n))
		if err != nil {
			return leased.Verdict{}, explain(err)
		}
		if answer.Header.Revision < int64(v.own.token)-1 { // it may lack some of those ahead
			return leased.Verdict{}, d.ofThePast()
		}
		if v.ahead, err = d.line(e, answer); err != nil {
			return leased.Verdict{}, err
		}
	}
}

// errPast says that a member answered from a revision before one that the cluster has confirmed. Such members are
// faulty (https://github.com/etcd-io/etcd/issues/20418), or the cluster was restored from a backup.
var errPast = errors.New("the member answered from the past: from before a claim that was confirmed")

// ofThePast is the error for such an answer. Another member is asked from now on.
func (d *Driver) ofThePast() error {
	m, _ := d.members.first()
	d.members.avoid(m)
	return errPast
}

// settle judges a view, notes what follows, and answers about it.
func (d *Driver) settle(ctx context.Context, e *claim, v view) (driver.Status, error) {
	judged, err := d.judge(ctx, e, v)
	if err != nil {
		return driver.Status{}, err
	}
	if judged.Granted && leased.IsWorthMarking(v.own.seat(), leasedSeats(v.ahead.seats), v.behind) {
		d.running.Go(func() { d.mark(e, v.own, judged.Bounds) })
	}
	return e.note(v, judged), nil
}

// note notes what was read, and answers about it.
func (e *claim) note(v view, judged leased.Verdict) driver.Status {
	waited := !e.IsGranted()
	st := e.Note(leased.Reading{
		Verdict: judged, Behind: v.behind, Partial: v.partial, Revoked: v.own.Revoked, Revision: v.revision,
	})
	if waited && st.Granted {
		e.stopWatching()
	}
	return st
}
