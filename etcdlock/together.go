package etcdlock

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/adapt"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// partOps is how many operations of etcd a part of a transaction has, and as many comparisons.
const partOps = 2

// Do makes one attempt at each operation of a batch, as [driver.Driver] says. First requests and releases of different
// locks are parts of one transaction, which does all of them or none. Where it does none, each is sent alone.
func (d *Driver) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	parts, others := d.divide(ctx, batch)
	if len(parts) == 0 {
		d.Batches.Do(ctx, batch, done)
		return
	}
	var g driver.Group
	if len(others) > 0 {
		rest := make([]driver.Op, len(others))
		for k, i := range others {
			rest[k] = batch[i]
		}
		g.Go(func() { d.Batches.Do(ctx, rest, func(k int, r driver.Result) { done(others[k], r) }) })
	}
	for some := range slices.Chunk(parts, maxOps/partOps) {
		g.Go(func() {
			d.doTogether(ctx, some, func(p *part, r driver.Result) {
				adapt.Note(d.Batches, batch[p.at], r)
				done(p.at, r)
			})
		})
	}
	g.Wait()
}

// divide returns the operations of a batch that can be parts of a transaction, one for each lock, since claims that one
// transaction queues on a lock would have one token; and where in the batch all others are.
func (d *Driver) divide(ctx context.Context, batch []driver.Op) (parts []*part, others []int) {
	if len(batch) < 2 || !d.learnt.Load() || d.lifetime.Err() != nil {
		return nil, nil
	}
	locks := make(map[string]bool, len(batch))
	for i := range batch {
		var p *part
		if !locks[batch[i].Claim.Name] {
			p = d.part(ctx, i, &batch[i])
		}
		if p == nil {
			others = append(others, i)
			continue
		}
		locks[batch[i].Claim.Name] = true
		parts = append(parts, p)
	}
	return parts, others
}

// A part is an operation that is a part of a transaction.
type part struct {
	d     *Driver
	at    int // in the batch
	asked driver.Claim
	claim *claim

	// Of a request.
	record   record
	from     leased.Instant
	extended func(context.Context) error // awaits the claim's lease

	notes *lease // of a release: that of the note
}

// doTogether does operations in one transaction.
func (d *Driver) doTogether(ctx context.Context, parts []*part, tell func(*part, driver.Result)) {
	var ifs []clientv3.Cmp
	var then []clientv3.Op
	for _, p := range parts {
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
		if again || isDone(err) {
			p.claim.Doubt()
		}
		tell(p, conclude(p, ctx, outcome{answer, k * partOps, err}))
	})
}

// An outcome is what came of a transaction for one of its parts.
type outcome struct {
	answer *clientv3.TxnResponse
	place  int // of the part's first operation
	err    error
}

// part prepares an operation for a transaction; nil where it can be a part of none.
func (d *Driver) part(ctx context.Context, at int, op *driver.Op) *part {
	switch e := d.claims.Known(op.Claim); {
	case op.Kind == driver.OpRequest && e == nil:
		return d.requestPart(at, op)
	case op.Kind == driver.OpRelease && e != nil:
		return d.releasePart(ctx, at, op.Claim, e)
	}
	return nil
}

// requestPart prepares a first request for which there is a lease. One that would not wait is no part: it does nothing
// where the lock is taken, and then nothing would be done of all the others.
func (d *Driver) requestPart(at int, op *driver.Op) *part {
	c := op.Claim
	if op.Brief || c.Token != 0 || !c.Queue || c.Detached || driver.Validate(c, d.traits()) != nil {
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

// releasePart prepares a release of a claim that this client has requested and never moved: then no tombstone was left
// ahead that would have to stay on its lease.
func (d *Driver) releasePart(ctx context.Context, at int, c driver.Claim, e *claim) *part {
	if c.Token == 0 || c.Token != e.Token() || e.isGone() || e.isMoved() {
		return nil
	}
	l, err := d.noteLease(ctx, e.Longest())
	if err != nil {
		return nil
	}
	return &part{d: d, at: at, asked: c, claim: e, notes: l}
}

func (p *part) ifs() []clientv3.Cmp {
	if p.notes != nil {
		unmoved := clientv3.Compare(clientv3.LeaseValue(p.claim.key), "=", p.claim.leased().id)
		return []clientv3.Cmp{is(p.claim.key, p.asked.Token), unmoved}
	}
	return []clientv3.Cmp{absent(p.claim.key), absent(p.claim.tombstone)}
}

func (p *part) then() []clientv3.Op {
	if p.notes != nil {
		note := tombstone{Format: p.d.format, Released: true, Token: p.asked.Token}
		return []clientv3.Op{
			clientv3.OpDelete(p.claim.key),
			clientv3.OpPut(p.claim.tombstone, encode(note), clientv3.WithLease(p.notes.id)),
		}
	}
	return []clientv3.Op{p.claim.putOp(p.record), p.claim.newestOp(1 + leased.LookAhead(p.record.seat()))}
}

// done answers about an operation that was done.
func (p *part) done(ctx context.Context, o outcome) (r driver.Result) {
	if p.notes != nil {
		p.d.forgetReleased(p.claim)
		return r
	}
	st, err := p.d.queued(ctx, p.claim, p.record, o.answer, o.place+1)
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
	if p.notes != nil {
		return driver.Result{Err: o.err}
	}
	return p.requested(ctx, driver.Status{}, o.err)
}

// alone does the operation by itself.
func (p *part) alone(ctx context.Context, _ outcome) (r driver.Result) {
	if p.notes != nil {
		r.Err = p.d.releaseKnown(ctx, p.claim, p.asked)
		return r
	}
	r.Status, r.Err = p.d.createAs(ctx, p.claim, p.asked)
	return r
}
