package etcdlock

import (
	"context"
	"errors"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// Renew renews claims, as [driver.Renewer] says: one keep-alive for each of their leases, and, in as few transactions
// as etcd allows, a look at each claim.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	results := make([]driver.Result, len(claims))
	var batch []renewal
	for i, c := range claims {
		if e := d.known(idOf(c)); e != nil && d.plain(e, c) {
			batch = append(batch, renewal{claim: e, asked: c, result: &results[i]})
		} else {
			results[i].Status, results[i].Err = d.Request(ctx, c)
		}
	}
	d.renewAll(ctx, batch)
	return results, nil
}

// plain reports whether renewing the claim takes no more than looking at it.
func (d *Driver) plain(e *claim, c driver.Claim) bool {
	token := e.tokenNow()
	return !e.isGone() && token != 0 && c.Token == token && d.begin(context.Background(), c) == nil
}

// A renewal is one of a batch.
type renewal struct {
	claim  *claim
	asked  driver.Claim
	result *driver.Result
	older  bool // than the request that left the claim alone, so it renews nothing
}

// renew renews one claim.
func (d *Driver) renew(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	var r driver.Result
	d.renewAll(ctx, []renewal{{claim: e, asked: c, result: &r}})
	return r.Status, r.Err
}

// maxRenewals is how many claims one transaction looks at, with up to three questions for each.
const maxRenewals = maxOps / 3

// renewAll looks at the claims while their leases are extended.
func (d *Driver) renewAll(ctx context.Context, batch []renewal) {
	from := now()
	leases, extended := make([]*lease, len(batch)), make([]func(context.Context) error, len(batch))
	for i, r := range batch {
		leases[i] = r.claim.leased()
		extended[i] = leases[i].extendFor(r.asked)
	}
	for part := range slices.Chunk(batch, maxRenewals) {
		d.look(ctx, part)
	}
	for i, r := range batch {
		err := extended[i](ctx)
		if r.result.Err == nil && r.claim.leased() == leases[i] { // else it was attached to another, which was extended
			r.result.Err = err
		}
		r.conclude(from)
	}
}

// conclude notes what came of a renewal. A claim whose time has come meanwhile is being taken out of the queue, whatever
// was read of it.
func (r renewal) conclude(from instant) {
	switch err := r.result.Err; {
	case err == nil && r.older:
	case err == nil && !r.claim.live(r.asked.TTL, from):
		*r.result = driver.Result{Err: driver.ErrGone}
	case err == nil:
		r.claim.keepNote()
		r.result.Status.TTL = r.asked.TTL
	case isLeaseLost(err):
		r.claim.bury()
		*r.result = driver.Result{Err: driver.ErrGone}
	case errors.Is(err, driver.ErrGone):
		r.claim.bury()
		fallthrough
	default:
		r.result.Status = driver.Status{}
	}
}

// look reads the claims in one transaction and answers about each.
func (d *Driver) look(ctx context.Context, batch []renewal) {
	var ops []clientv3.Op
	for _, r := range batch {
		ops = append(ops, r.claim.questions()...)
	}
	answer, _, err := d.commit(ctx, nil, ops, nil)
	if err != nil {
		for _, r := range batch {
			r.result.Err = explain(err)
		}
		return
	}
	for i := range batch {
		r := &batch[i]
		*r.result = d.answer(ctx, r, answer.Header.Revision, answer.Responses[3*i:3*i+3])
	}
}

// questions are what a look at a claim reads: itself, those ahead of it, and who came last.
func (e *claim) questions() []clientv3.Op {
	token, ahead := e.tokenNow(), int64(lookAheadShared)
	if e.isGranted() {
		ahead = lookAheadAlone // nothing can come ahead of it any more
	}
	return []clientv3.Op{clientv3.OpGet(e.key), e.aheadOp(token, ahead), e.lastOp()}
}

func (e *claim) isGranted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.granted
}

// answer answers about one claim that was looked at.
func (d *Driver) answer(ctx context.Context, r *renewal, revision int64, parts []*pb.ResponseOp) (res driver.Result) {
	e := r.claim
	v, err := d.read(e, revision, parts)
	if err != nil {
		return driver.Result{Err: err}
	}
	if v.own.Detached != r.asked.Detached || v.own.lease != e.leased().id || !e.leased().serves(r.asked) {
		err := d.attach(ctx, e, v.own, r.asked)
		if r.older = err == errLeftAlone; err != nil && !r.older {
			return driver.Result{Err: err}
		}
	}
	if e.isGranted() {
		res.Status = e.note(v, verdict{granted: true})
	} else {
		res.Status, res.Err = d.settle(ctx, e, v)
	}
	if r.older {
		res.Status.TTL = e.remaining(v.own)
	}
	return res
}

// remaining is what is left of the TTL of a claim that is as it was read. Where another client keeps it, only that one knows.
func (e *claim) remaining(own seat) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if own.lease != e.lease.id {
		return 1
	}
	return max(e.until.sub(now()), 1)
}

// read reads the answers to the questions about a claim. [driver.ErrGone] when it is not there.
func (d *Driver) read(e *claim, revision int64, parts []*pb.ResponseOp) (view, error) {
	v, err := d.view(e, revision, parts[1].GetResponseRange())
	if err != nil {
		return v, err
	}
	own, err := d.seats(e.queue, parts[0].GetResponseRange().Kvs)
	switch {
	case err != nil:
		return v, err
	case len(own) == 0 || own[0].token != e.tokenNow():
		return v, driver.ErrGone
	}
	v.own = own[0]
	last := parts[2].GetResponseRange().Kvs
	v.behind = len(last) > 0 && uint64(last[0].CreateRevision) > v.own.token
	return v, nil
}
