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
// and the release of one that has a token, but not in a cluster, where the keys may lie on different nodes. Both have
// more arguments in rare cases, for which the batch has no room.
func (d *native) combinable(s *script, k keys, args []string) (operation, bool) {
	const ofRequest, ofRelease = 4, 2
	o := operation{script: s, keys: k.all(), args: args}
	switch {
	case d.conn.Cluster():
		return o, false
	case s == &d.scripts.request && len(args) == ofRequest:
		o.own = 1
		return o, true
	case s == &d.scripts.release && len(args) == ofRelease:
		o.own = ofRelease
		return o, true
	}
	return o, false
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
