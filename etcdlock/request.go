package etcdlock

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// request queues or renews a claim, as [driver.OpRequest] says. The first request of a claim is one transaction.
func (d *Driver) request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := d.validate(ctx, c); err != nil {
		return driver.Status{}, err
	}
	if e := d.claims.Known(c); e != nil {
		return d.repeat(ctx, e, c)
	}
	if c.Token != 0 {
		st, err := d.adopt(ctx, c)
		return st, repeatedly(err)
	}
	if _, released := d.released.Find(c); released {
		return driver.Status{}, driver.ErrGone
	}
	return d.create(ctx, c)
}

// repeat requests a claim that this client requested before.
func (d *Driver) repeat(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	token := e.Token()
	switch {
	case !e.isGone() && e.isLeftOut():
		if err := d.leaveOut(ctx, e); err != nil || !c.Queue {
			return driver.Status{}, err
		}
		return driver.Status{}, driver.ErrGone
	case e.isGone() && c.Token != 0 && !e.IsLeaving():
		st, err := d.adopt(ctx, c) // another client may have taken it over
		return st, repeatedly(err)
	case e.isGone():
		return driver.Status{}, driver.ErrGone
	case token == 0 && c.Token != 0:
		st, err := d.adopt(ctx, c)
		return st, repeatedly(err)
	case token == 0:
		return d.put(ctx, e, c)
	case c.Token != 0 && c.Token != token:
		return driver.Status{}, driver.ErrGone
	default:
		st, err := d.renew(ctx, e, c)
		st, err = d.unlessWaiting(ctx, e, c, st, err)
		return st, repeatedly(err) // the claim is in the queue, whatever was not done now
	}
}

// create requests a claim for the first time.
func (d *Driver) create(ctx context.Context, c driver.Claim) (driver.Status, error) {
	l, err := d.leaseOf(ctx, c)
	if err != nil {
		return driver.Status{}, err
	}
	return d.createAs(ctx, d.enter(c, "", 0, l), c)
}

// createAs is create for a claim that is known. Its lease may turn out to be gone, because nobody was there to extend
// it, or to take nothing more. Then nothing was put, and it is known anew, on another lease.
func (d *Driver) createAs(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	l := e.leased()
	st, err := d.put(ctx, e, c)
	if !errors.Is(err, errLeaseLost) && !l.denies(ctx, err) {
		return st, err
	}
	d.forget(e)
	return d.create(ctx, c)
}

// put sends the first request of a claim, perhaps not for the first time.
func (d *Driver) put(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	from := leased.Now()
	extended := e.leased().extendFor(c)
	if e.leased().isLost() {
		return driver.Status{}, e.leaseLost() // nothing may be put on it any more: nobody keeps it alive
	}
	st, err := d.queueOrTry(ctx, e, c)
	if waitErr := extended(ctx); err == nil && st.Token != 0 {
		err = waitErr
	}
	return d.concludePut(e, c, st, err, from)
}

// concludePut notes what came of a first request, which was sent at this instant.
func (d *Driver) concludePut(
	e *claim, c driver.Claim, st driver.Status, err error, from leased.Instant,
) (driver.Status, error) {
	switch {
	case err == nil && e.isThis(st) && !e.Live(c.TTL, from):
		return driver.Status{}, driver.ErrGone // its time has come, and it is being taken out of the queue
	case err == nil:
		return st, nil
	case errors.Is(err, driver.ErrGone) && e.IsLeaving():
		return driver.Status{}, err // it stays known until it has left: else a late request would find it in the queue
	case errors.Is(err, driver.ErrGone):
		d.forget(e)
		return driver.Status{}, err
	case errors.Is(err, driver.ErrRefused):
		return driver.Status{}, d.refuse(e, err)
	case isLeaseLost(err):
		return driver.Status{}, e.leaseLost()
	case errors.Is(err, driver.ErrUnsent) && !e.maybeQueued():
		d.forget(e) // it is not in the queue
		return driver.Status{}, err
	default:
		e.Doubt()
		return driver.Status{}, repeatedly(err)
	}
}

// isThis reports whether an answer is about the claim as this client put it. It may be about none, when the claim
// would not wait, or about one that another client has put, which is kept apart.
func (e *claim) isThis(st driver.Status) bool { return st.Token != 0 && st.Token == e.Token() }

func (d *Driver) queueOrTry(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	if c.Queue {
		return d.enqueue(ctx, e, c)
	}
	st, err := d.try(ctx, e, c)
	return d.unlessWaiting(ctx, e, c, st, err)
}

// maybeQueued reports whether a request was sent that may have put the claim into the queue.
func (e *claim) maybeQueued() bool { return e.InDoubt() || e.Token() != 0 }

// leaseLost answers a request whose lease was gone. When that was the first request, the claim never was.
func (e *claim) leaseLost() error {
	e.leased().lose()
	if e.maybeQueued() {
		e.rememberEnd()
		return driver.ErrGone
	}
	return errLeaseLost
}

func isLeaseLost(err error) bool {
	return errors.Is(err, errLeaseLost) || errors.Is(err, rpctypes.ErrLeaseNotFound)
}

// commit does a transaction about a claim, and notes when an attempt may have done so that was not answered, or was
// refused afterwards.
func (e *claim) commit(
	ctx context.Context, ifs []*pb.Compare, then, otherwise []*pb.RequestOp,
) (*pb.TxnResponse, error) {
	answer, again, err := e.d.commit(ctx, ifs, then, otherwise)
	if again || isDone(err) {
		e.Doubt()
	}
	return answer, err
}

// enqueue reads the newest claims in the queue, and puts the claim behind them.
func (d *Driver) enqueue(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	r := d.newRecord(c)
	answer, err := e.commit(ctx,
		[]*pb.Compare{absent(e.key), absent(e.tombstone)},
		e.queueOps(r),
		[]*pb.RequestOp{getOp(e.key)})
	switch {
	case err != nil:
		return driver.Status{}, explain(err)
	case answer.Succeeded:
		return d.queued(ctx, e, r, answer, 0)
	default:
		return d.found(ctx, e, c, answer)
	}
}

// queueOps are the steps of a request.
func (e *claim) queueOps(r record) []*pb.RequestOp {
	return []*pb.RequestOp{e.newestOp(r), e.putOp(r)}
}

// newestOp reads the newest claims of the queue, as many as the judgement of this one begins with.
func (e *claim) newestOp(r record) *pb.RequestOp {
	return readOp(newestFirst(e.queue, leased.LookAhead(r.seat())))
}

func (e *claim) putOp(r record) *pb.RequestOp { return putOp(e.key, encode(r), e.leased().id) }

// queued answers about a claim that was just put. The claims ahead were read by this step of the transaction.
func (d *Driver) queued(
	ctx context.Context, e *claim, r record, answer *pb.TxnResponse, step int,
) (driver.Status, error) {
	token := uint64(answer.Header.Revision)
	e.Answered(token)
	v, err := d.view(e, answer.Header.Revision, answer.Responses[step].GetResponseRange())
	if err != nil {
		return driver.Status{}, err
	}
	v.own = e.seat(r, token)
	return d.settle(ctx, e, v)
}

// refuse drops a claim that is refused, and leaves nothing behind: this attempt or an earlier one may have put it
// into the queue before it turned out that it cannot be judged. Where it cannot be removed, it stays known until
// its time ends.
func (d *Driver) refuse(e *claim, err error) error {
	if e.maybeQueued() {
		e.beLeftOut()
		if removeErr := e.removeOnce(); removeErr != nil {
			return removeErr
		}
	}
	d.forget(e)
	return err
}

// found answers about a claim whose key or end was there already, as the first part of the transaction shows. A claim
// that is there under another ID has ended, and a late copy of its request queued it: a full store took no note of its
// end. It makes room.
func (d *Driver) found(
	ctx context.Context, e *claim, c driver.Claim, answer *pb.TxnResponse,
) (driver.Status, error) {
	own := answer.Responses[0].GetResponseRange().Kvs
	if len(own) == 0 {
		return driver.Status{}, driver.ErrGone
	}
	if s, _ := d.anySeat(e.queue, own[0]); s.ID != e.ID {
		makeRoom := []*pb.RequestOp{deleteOp(s.key)}
		if _, _, err := d.commit(ctx, []*pb.Compare{is(s.key, s.token)}, makeRoom, nil); err != nil {
			return driver.Status{}, explain(err)
		}
		return d.queueOrTry(ctx, e, c)
	}
	e.Answered(uint64(own[0].CreateRevision))
	return d.renew(ctx, e, c)
}
