package etcdlock

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// markAgain marks a granted claim where that failed before: those behind it may wait for nothing else.
func (d *Driver) markAgain(e *claim, v view) {
	bounds := e.Bounds()
	followed := v.behind || v.partial && e.IsFollowed()
	if followed && bounds != (leased.Bounds{}) && !v.own.exclusive() && v.own.Fits == nil {
		d.running.Go(func() { d.mark(e, v.own, bounds) })
	}
}

// mark notes in the key that the claim is granted, and its bounds. If that fails, those behind read further, and
// the next of them learns of it when it is renewed.
func (d *Driver) mark(e *claim, own seat, bounds leased.Bounds) {
	ctx, cancel := context.WithTimeout(d.lifetime, e.leased().ttl/attemptPart)
	defer cancel()
	own.Fits = &bounds
	d.rewrite(ctx, own) // an error is no loss, as above
}

// rewrite changes the record of a claim that is as it was read, and reports whether it was.
func (d *Driver) rewrite(ctx context.Context, s seat) (bool, error) {
	asRead, change := []*pb.Compare{unchanged(s.key, s.mod)}, []*pb.RequestOp{rewriteOp(s.key, encode(s.record))}
	answer, _, err := d.commit(ctx, asRead, change, nil)
	if err != nil {
		return false, explain(err)
	}
	return answer.Succeeded, nil
}
