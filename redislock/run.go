package redislock

import "context"

// run runs a script on the keys of a lock, perhaps in a batch with what others ask for.
func (d *native) run(ctx context.Context, s *script, k keys, args ...string) ([]string, error) {
	if o, ok := d.combinable(s, k, args); ok {
		return d.combiner.run(ctx, o)
	}
	return s.run(ctx, d.conn, k.all(), args)
}

// combinable returns a script for one claim as an operation, if it can go in a batch: the first request of a claim,
// and the release of one that has a token, but not in a cluster, where the keys may lie on different nodes.
func (d *native) combinable(s *script, k keys, args []string) (operation, bool) {
	o := d.operation(s, k, args)
	return o, !d.conn.Cluster() && (s == &d.scripts.request || s == &d.scripts.release) && o.group != ""
}

// runToEnd runs a script that ends a claim, and has all granted that this makes grantable: what one run leaves is
// done by the next. Should that fail, whoever asks about the lock goes on.
func (d *native) runToEnd(ctx context.Context, s *script, k keys, args ...string) ([]string, error) {
	values, err := d.run(ctx, s, k, args...)
	answer, more := cutMore(values)
	for more { // the claim has ended, whatever becomes of these: their errors are not the caller's
		values, _ = d.run(ctx, s, k, args...)
		_, more = cutMore(values)
	}
	return answer, err
}

// runConfirmed is run, and counts the replicas that have what the script wrote. short is the error for too few.
func (d *native) runConfirmed(
	ctx context.Context, s *script, k keys, args ...string,
) (values []string, short, err error) {
	if d.opts.Replicas == 0 {
		values, err = d.run(ctx, s, k, args...)
		return values, nil, err
	}
	confirm := newConfirmation(d.pipelinerOf(s), d.opts.Replicas)
	reply := s.runMany(ctx, confirm.send, []Command{{Head: s.head, Keys: k.all(), Tail: args}})[0]
	return reply.Values, confirm.short(), reply.Err
}

// pipelinerOf returns the pipeliner for what a script does.
func (d *native) pipelinerOf(s *script) *pipeliner {
	if s == &d.scripts.renew {
		return d.renewals
	}
	return d.requests
}
