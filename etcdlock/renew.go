package etcdlock

import (
	"context"
	"errors"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A renewal is a request that renews a claim. If a brief one finds that the claim still waits for the same claims,
// Contended and Retry are those of the last look that read the whole queue.
type renewal struct {
	at     int // in the batch
	claim  *claim
	asked  driver.Claim
	result driver.Result
	brief  bool // it asks no more of a claim that waits than whether it waits still
	older  bool // it was sent before the request that left the claim alone, so it renews nothing
}

// renewal prepares a brief renewal; nil where that takes more than a look at the claim.
func (d *Driver) renewal(ctx context.Context, at int, op *driver.Op) *renewal {
	c := op.Claim
	e := d.claims.Known(c)
	if e == nil || d.open(ctx) != nil || d.validate(ctx, c) != nil {
		return nil
	}
	if e.isGone() || e.isLeftOut() || c.Token == 0 || c.Token != e.Token() {
		return nil
	}
	return &renewal{at: at, claim: e, asked: c, brief: true}
}

// renewTogether renews claims, and answers about each.
func (d *Driver) renewTogether(ctx context.Context, batch []*renewal, tell func(at int, r driver.Result)) {
	d.renewAll(ctx, batch)
	for _, r := range batch {
		tell(r.at, r.result)
	}
}

// renew renews one claim.
func (d *Driver) renew(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	r := renewal{claim: e, asked: c}
	d.renewAll(ctx, []*renewal{&r})
	return r.result.Status, r.result.Err
}

// maxRenewals is how many claims one transaction looks at, with up to three questions for each.
const maxRenewals = maxOps / 3

// renewAll looks at the claims while their leases are extended.
func (d *Driver) renewAll(ctx context.Context, batch []*renewal) {
	from := leased.Now()
	leases, extended := make([]*lease, len(batch)), make([]func(context.Context) error, len(batch))
	for i, r := range batch {
		leases[i] = r.claim.leased()
		extended[i] = leases[i].extendFor(r.asked)
	}
	d.lookAll(ctx, batch)
	var denied []*renewal
	for i, r := range batch {
		err := extended[i](ctx)
		switch {
		case isLeaseLost(err) && errors.Is(r.result.Err, errPast): // a cluster that was restored does not have it
			r.result = driver.Result{Err: err}
		case r.result.Err != nil, r.claim.leased() != leases[i]: // it was attached to another, which was extended
		case err == errLeaseDenied:
			denied = append(denied, r)
		default:
			r.result.Err = err
		}
	}
	d.lookAll(ctx, denied) // which attaches them to another
	for _, r := range batch {
		r.conclude(from)
	}
}

func (d *Driver) lookAll(ctx context.Context, batch []*renewal) {
	parts := slices.Collect(slices.Chunk(batch, maxRenewals))
	each(len(parts), func(i int) { d.look(ctx, parts[i]) })
}

// conclude notes what came of a renewal. A claim whose time has come meanwhile is being taken out of the queue,
// whatever was read of it.
func (r *renewal) conclude(from leased.Instant) {
	switch err := r.result.Err; {
	case err == nil && r.older:
	case err == nil && !r.claim.Live(r.asked.TTL, from):
		r.result = driver.Result{Err: driver.ErrGone}
	case err == nil:
		r.claim.extendNote()
		r.result.Status.TTL = r.asked.TTL
	case isLeaseLost(err):
		r.claim.rememberEnd()
		r.result = driver.Result{Err: driver.ErrGone}
	case errors.Is(err, driver.ErrGone):
		r.claim.rememberEnd()
		fallthrough
	default:
		r.result.Status = driver.Status{}
	}
}

// look reads the claims in one transaction and answers about each.
func (d *Driver) look(ctx context.Context, batch []*renewal) {
	var all inquiries
	inquiries := make([]inquiry, len(batch))
	for i, r := range batch {
		inquiries[i] = all.add(r.claim.inquiry(r.brief))
	}
	answer, _, err := d.commit(ctx, nil, all.ops, nil)
	if len(batch) > 1 && errors.Is(err, rpctypes.ErrPermissionDenied) { // for one of them; who knows which
		each(len(batch), func(i int) { d.look(ctx, batch[i:i+1]) })
		return
	}
	if err != nil {
		for _, r := range batch {
			r.result.Err = explain(err)
		}
		return
	}
	each(len(batch), func(i int) { // a claim that moves, or is no longer blocked, takes more questions
		batch[i].result = d.answer(ctx, batch[i], inquiries[i], answer)
	})
}

// answer answers about one claim that was looked at. One that is left alone may be renewed by several clients, each on
// a lease of its own. Each renewal writes it anew, so that no request moves it that another client has sent before and
// that arrives after the answer: its lease may end before the time that is answered here.
func (d *Driver) answer(
	ctx context.Context, r *renewal, q inquiry, answer *pb.TxnResponse,
) (res driver.Result) {
	e := r.claim
	v, err := d.read(q, answer)
	if err != nil {
		return driver.Result{Err: err}
	}
	if r.asked.Detached || v.own.Detached || v.own.lease != e.leased().id || !e.leased().serves(r.asked) {
		err := d.attach(ctx, e, v.own, r.asked)
		if r.older = err == errLeftAlone; err != nil && !r.older {
			return driver.Result{Err: err}
		}
	}
	if res.Status, res.Err = d.conclude(ctx, q, v); r.older {
		res.Status.TTL = e.remaining(v.own)
	}
	return res
}

// remaining is what is left of the TTL of a claim that is as it was read. Where another client keeps the claim,
// only that one knows, and the answer is the least that there is.
func (e *claim) remaining(own seat) time.Duration {
	if own.lease != e.leased().id {
		return 1
	}
	return e.Remaining()
}
