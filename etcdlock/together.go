package etcdlock

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// partOps is how many steps a part of a transaction has at most, and as many comparisons.
const partOps = 2

// A part is an operation that is a part of a transaction.
type part struct {
	d     *Driver
	at    int // in the batch
	step  int // the first of the transaction that is its own
	asked driver.Claim
	claim *claim

	// Of a request.
	record   record
	from     leased.Instant
	extended func(context.Context) error // awaits the claim's lease

	release bool
}

// doTogether does operations in as few transactions as etcd allows.
func (d *Driver) doTogether(ctx context.Context, parts []*part, tell func(at int, r driver.Result)) {
	var g driver.Group
	for some := range slices.Chunk(parts, maxOps/partOps) {
		g.Go(func() { d.doAtOnce(ctx, some, tell) })
	}
	g.Wait()
}

// doAtOnce does operations in one transaction.
func (d *Driver) doAtOnce(ctx context.Context, parts []*part, tell func(at int, r driver.Result)) {
	var ifs []*pb.Compare
	var then []*pb.RequestOp
	for _, p := range parts {
		p.step = len(then)
		ifs, then = append(ifs, p.ifs()...), append(then, p.then()...)
	}
	answer, again, err := d.commit(ctx, ifs, then, nil)
	conclude := (*part).failed
	switch {
	case err == nil && answer.Succeeded:
		conclude = (*part).done
	case err == nil, driver.IsAnswer(err), isLeaseLost(err): // some part cannot be done; nobody knows which
		conclude = (*part).alone
	}
	each(len(parts), func(k int) {
		p := parts[k]
		p.sent(again, err)
		tell(p.at, conclude(p, ctx, outcome{answer, err}))
	})
}

// An outcome is what came of a transaction for one of its parts.
type outcome struct {
	answer *pb.TxnResponse
	err    error
}

// part prepares an operation for a transaction; nil where it can be a part of none.
func (d *Driver) part(at int, op *driver.Op) *part {
	switch e := d.claims.Known(op.Claim); {
	case !d.learnt.Load() || d.lifetime.Err() != nil:
		return nil
	case op.Kind == driver.OpRequest && e == nil:
		return d.requestPart(at, op)
	case op.Kind == driver.OpRelease && e != nil:
		return d.releasePart(at, op.Claim, e)
	}
	return nil
}

// requestPart prepares a first request for which there is a lease. One that would not wait is no part: it does nothing
// where the lock is taken, and then nothing would be done of all the others.
func (d *Driver) requestPart(at int, op *driver.Op) *part {
	c := op.Claim
	if c.Token != 0 || !c.Queue || c.Detached || driver.Validate(c, d.traits()) != nil {
		return nil
	}
	if _, released := d.released.Find(c); released {
		return nil
	}
	l, ready := d.slot(leaseTime(c.TTL)).Lease()
	if !ready || l.isLost() || l.isDenied() {
		return nil
	}
	return &part{
		d: d, at: at, asked: c, claim: d.enter(c, "", 0, l), record: d.newRecord(c),
		from: leased.Now(), extended: l.extendFor(c),
	}
}

// releasePart prepares a release that leaves no note.
func (d *Driver) releasePart(at int, c driver.Claim, e *claim) *part {
	if !e.isBare(c) || e.isGone() {
		return nil
	}
	return &part{d: d, at: at, asked: c, claim: e, release: true}
}

func (p *part) ifs() []*pb.Compare {
	if p.release {
		return []*pb.Compare{is(p.claim.key, p.asked.Token)}
	}
	return []*pb.Compare{absent(p.claim.key), absent(p.claim.tombstone)}
}

func (p *part) then() []*pb.RequestOp {
	if p.release {
		return []*pb.RequestOp{deleteOp(p.claim.key)}
	}
	return p.claim.queueOps(p.record)
}

// sent notes whether the transaction may have been done, though no answer says so.
func (p *part) sent(again bool, err error) {
	switch {
	case p.release:
		p.claim.sentRelease(again, err)
	case again || isDone(err):
		p.claim.Doubt()
	}
}

// done answers about an operation that was done.
func (p *part) done(ctx context.Context, o outcome) (r driver.Result) {
	if p.release {
		p.d.forgetBare(p.claim, p.asked)
		return r
	}
	st, err := p.d.queued(ctx, p.claim, p.record, o.answer, p.step)
	return p.requested(ctx, st, err)
}

// requested answers a request.
func (p *part) requested(ctx context.Context, st driver.Status, err error) (r driver.Result) {
	if waitErr := p.extended(ctx); err == nil {
		err = waitErr
	}
	r.Status, r.Err = p.d.concludePut(p.claim, p.asked, st, err, p.from)
	return r
}

// failed answers about an operation that may have been done.
func (p *part) failed(ctx context.Context, o outcome) driver.Result {
	if p.release {
		return driver.Result{Err: o.err}
	}
	return p.requested(ctx, driver.Status{}, o.err)
}

// alone does the operation by itself.
func (p *part) alone(ctx context.Context, _ outcome) (r driver.Result) {
	if p.release {
		r.Err = p.d.releaseKnown(ctx, p.claim, p.asked)
		return r
	}
	r.Status, r.Err = p.d.createAs(ctx, p.claim, p.asked)
	return r
}
