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

// Renew renews claims, as [driver.Op] says of those that are Brief: one keep-alive for each of their leases, and a
// look at each claim in as few transactions as etcd allows. If a claim still waits for the same claims, its Contended
// and Retry are those of the last look that read the whole queue.
func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	results := make([]driver.Result, len(claims))
	var batch []renewal
	var others []int
	for i, c := range claims {
		if e := d.claims.Known(c); e != nil && d.plain(e, c) {
			batch = append(batch, renewal{claim: e, asked: c, result: &results[i], brief: true})
		} else {
			others = append(others, i)
		}
	}
	d.renewAll(ctx, batch)
	each(len(others), func(k int) { // last, since each takes a question of its own
		r := &results[others[k]]
		r.Status, r.Err = d.Request(ctx, claims[others[k]])
	})
	return results, nil
}

// plain reports whether renewing the claim takes no more than looking at it.
func (d *Driver) plain(e *claim, c driver.Claim) bool {
	token := e.Token()
	return !e.isGone() && !e.isLeftOut() && token != 0 && c.Token == token && d.begin(context.Background(), c) == nil
}

// A renewal is one of a batch.
type renewal struct {
	claim  *claim
	asked  driver.Claim
	result *driver.Result
	brief  bool // it asks no more of a claim that waits than whether it waits still
	older  bool // it was sent before the request that left the claim alone, so it renews nothing
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
	from := leased.Now()
	leases, extended := make([]*lease, len(batch)), make([]func(context.Context) error, len(batch))
	for i, r := range batch {
		leases[i] = r.claim.leased()
		extended[i] = leases[i].extendFor(r.asked)
	}
	d.lookAll(ctx, batch)
	var denied []renewal
	var at []int // of these in the batch
	for i, r := range batch {
		err := extended[i](ctx)
		switch {
		case isLeaseLost(err) && errors.Is(r.result.Err, errPast): // a cluster that was restored does not have it
			*r.result = driver.Result{Err: err}
		case r.result.Err != nil, r.claim.leased() != leases[i]: // it was attached to another, which was extended
		case err == errLeaseDenied:
			denied, at = append(denied, r), append(at, i)
		default:
			r.result.Err = err
		}
	}
	d.lookAll(ctx, denied) // which attaches them to another
	for k, r := range denied {
		batch[at[k]] = r
	}
	for _, r := range batch {
		r.conclude(from)
	}
}

func (d *Driver) lookAll(ctx context.Context, batch []renewal) {
	parts := slices.Collect(slices.Chunk(batch, maxRenewals))
	each(len(parts), func(i int) { d.look(ctx, parts[i]) })
}

// conclude notes what came of a renewal. A claim whose time has come meanwhile is being taken out of the queue,
// whatever was read of it.
func (r renewal) conclude(from leased.Instant) {
	switch err := r.result.Err; {
	case err == nil && r.older:
	case err == nil && !r.claim.Live(r.asked.TTL, from):
		*r.result = driver.Result{Err: driver.ErrGone}
	case err == nil:
		r.claim.extendNote()
		r.result.Status.TTL = r.asked.TTL
	case isLeaseLost(err):
		r.claim.rememberEnd()
		*r.result = driver.Result{Err: driver.ErrGone}
	case errors.Is(err, driver.ErrGone):
		r.claim.rememberEnd()
		fallthrough
	default:
		r.result.Status = driver.Status{}
	}
}

// look reads the claims in one transaction and answers about each.
func (d *Driver) look(ctx context.Context, batch []renewal) {
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
		*batch[i].result = d.answer(ctx, &batch[i], inquiries[i], answer)
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
