package etcdlock

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A scope is how much of the queue is read to know how a claim stands. To find the newest of many keys the server
// looks at all of them, so that is not asked for where less will do: thousands may wait in one queue.
type scope int

const (
	allAhead  scope = iota // the claim, those ahead of it, and who came last
	justHeld               // the claim, and who came last: nothing can come ahead of it any more
	justAhead              // the claim, and what it waits for: see tellsOfAll
)

// An inquiry is what one transaction reads about one claim.
type inquiry struct {
	claim   *claim
	scope   scope
	verdict leased.Verdict // what is known already
	places  [3]int         // of the claim, of those ahead or what it waits for, and of who came last, among the answers
}

// inquiries are what one transaction reads about some claims.
type inquiries struct {
	ops  []*pb.RequestOp
	last map[string]int // places of who came last, by queue
}

// add adds one.
func (qs *inquiries) add(q inquiry) inquiry {
	e := q.claim
	q.places[0] = qs.ask(getOp(e.key))
	switch q.scope {
	case justAhead:
		q.places[1] = qs.ask(getOp(q.verdict.Watch))
		return q
	case allAhead:
		q.places[1] = qs.ask(readOp(e.newestAhead(e.Token(), leased.LookAheadShared)))
	}
	q.places[2] = qs.askLast(e)
	return q
}

func (qs *inquiries) ask(op *pb.RequestOp) (place int) {
	qs.ops = append(qs.ops, op)
	return len(qs.ops) - 1
}

// askLast asks who came last, once for each queue.
func (qs *inquiries) askLast(e *claim) (place int) {
	place, asked := qs.last[e.queue]
	if !asked {
		place = qs.ask(e.lastOp())
		if qs.last == nil {
			qs.last = make(map[string]int)
		}
		qs.last[e.queue] = place
	}
	return place
}

// inquiry says how much to read of a claim. A brief one is content to know that the claim waits still.
func (e *claim) inquiry(brief bool) inquiry {
	q := inquiry{claim: e, verdict: e.Verdict()}
	switch {
	case q.verdict.Granted && (e.alone || e.Bounds() != leased.Bounds{}):
		q.scope = justHeld
	case brief && tellsOfAll(q.verdict):
		q.scope = justAhead
	}
	return q
}

// tellsOfAll reports whether a claim waits while what it waits for is as it was. So it is where that is the end of a
// claim. That the claim just ahead is granted is written down by the client of that one, which may hang. Whoever waits
// for it and has few ahead reads them all; behind many, thousands may wait, and each believes the one just ahead, since
// to read some of a queue costs the server as much as to read all of it.
func tellsOfAll(v leased.Verdict) bool {
	switch {
	case v.Granted, v.Watch == "", v.Until == leased.AnyEnd:
		return false
	case v.Until == leased.ItsTurn:
		return !v.Few
	default:
		return true
	}
}

// read is what an inquiry found. [driver.ErrGone] when the claim is not there.
func (d *Driver) read(q inquiry, answer *pb.TxnResponse) (v view, err error) {
	e := q.claim
	v.revision = answer.Header.Revision
	own, err := d.seats(e.queue, rangeOf(answer, q.places[0]).Kvs)
	switch {
	case err != nil:
		return v, err
	case (len(own) == 0 || own[0].token != e.Token()) && v.revision < int64(e.Token()):
		return v, e.missingInThePast()
	case len(own) == 0 || own[0].token != e.Token():
		return v, driver.ErrGone
	}
	v.own = own[0]
	if q.scope == justAhead {
		v.blocked, v.partial = d.isBlocked(q, v.own, rangeOf(answer, q.places[1]).Kvs), true
		return v, nil
	}
	last := rangeOf(answer, q.places[2]).Kvs
	v.behind = len(last) > 0 && uint64(last[0].CreateRevision) > v.own.token
	if q.scope == allAhead {
		v.ahead, err = d.line(e, rangeOf(answer, q.places[1]))
	}
	return v, err
}

// missingInThePast is the error of a claim that a member did not know yet when it answered. A holder counts as one
// that lost its lock, because a cluster that was restored from a backup may grant that to others. Its claim is taken
// out of the queue, in case it is there. A claim that waits loses nothing by waiting on.
func (e *claim) missingInThePast() error {
	err := e.d.ofThePast()
	if !e.IsGranted() {
		return err
	}
	e.expire()
	return fmt.Errorf("%w: %w", driver.ErrGone, err)
}

// isBlocked reports whether what a claim waits for is as it was.
func (d *Driver) isBlocked(q inquiry, own seat, kvs []*mvccpb.KeyValue) bool {
	if len(kvs) == 0 || uint64(kvs[0].CreateRevision) >= own.token {
		return false
	}
	s, ok, err := d.seat(q.claim.queue, kvs[0])
	return ok && err == nil && (q.verdict.Until != leased.ItsTurn || s.Fits == nil)
}

// conclude notes what an inquiry found, and answers about the claim. When what it waited for has ended, that takes
// another look.
func (d *Driver) conclude(ctx context.Context, q inquiry, v view) (driver.Status, error) {
	e := q.claim
	switch {
	case e.IsGranted():
		d.markAgain(e, v)
		return e.note(v, leased.Verdict{Granted: true}), nil
	case q.scope == allAhead:
		return d.settle(ctx, e, v)
	case v.blocked:
		return e.note(v, q.verdict), nil
	default:
		return d.peek(ctx, e.inquiry(false))
	}
}

// peek reads a claim without renewing it.
func (d *Driver) peek(ctx context.Context, q inquiry) (driver.Status, error) {
	var all inquiries
	q = all.add(q)
	answer, _, err := d.commit(ctx, nil, all.ops, nil)
	if err != nil {
		return driver.Status{}, explain(err)
	}
	v, err := d.read(q, answer)
	if err != nil {
		return driver.Status{}, err
	}
	return d.conclude(ctx, q, v)
}

func rangeOf(answer *pb.TxnResponse, place int) *pb.RangeResponse {
	return answer.Responses[place].GetResponseRange()
}
