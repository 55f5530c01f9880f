package redislock

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Do implements [driver.Driver]. Each operation is a script of its own, and those of one script go in one
// pipeline.
func (f *foreign) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	together := make(map[*script][]int)
	for i := range batch {
		if s, err := f.scriptOf(ctx, &batch[i]); s != nil {
			together[s] = append(together[s], i)
		} else {
			done(i, driver.Result{Err: err})
		}
	}
	var group driver.Group
	for s, places := range together {
		run := func() { f.runEach(ctx, s, batch, places, done) }
		if len(together) == 1 {
			run()
		} else {
			group.Go(run)
		}
	}
	group.Wait()
}

// scriptOf returns the script for an operation; nil if it needs none, or cannot be done.
func (f *foreign) scriptOf(ctx context.Context, op *driver.Op) (*script, error) {
	if err := ctx.Err(); err != nil {
		return nil, unsent(err)
	}
	switch c := op.Claim; op.Kind {
	case driver.OpRequest:
		if err := driver.Validate(c, f.Traits()); err != nil {
			return nil, err
		}
		f.listener.extend(c, false)
		if c.Token != 0 {
			return &f.renewal, nil
		}
		return &f.request, nil
	case driver.OpRelease:
		f.stopWaiting(c.ID) // first: the script passes on what came before
		return &f.release, nil
	case driver.OpWatch:
		return nil, f.events.Watch(ctx, c.Name)
	default:
		return nil, driver.Unsupported(f.Traits(), op.Kind.String())
	}
}

// runEach runs a script for some operations of a batch.
func (f *foreign) runEach(
	ctx context.Context, s *script, batch []driver.Op, places []int, done func(int, driver.Result),
) {
	settle := func(i int, values []string, err error) {
		r := f.result(&batch[i], values, err)
		if f.opts.Layout == PythonRedisLock {
			f.events.Note(batch[i], r)
		} else {
			f.note(batch[i], r)
		}
		done(i, r)
	}
	if len(places) == 1 {
		op := &batch[places[0]]
		values, err := s.run(ctx, f.conn, f.keys(op.Claim), f.args(op))
		settle(places[0], values, err)
		return
	}
	cmds := make([]Command, len(places))
	for k, i := range places {
		cmds[k] = Command{Head: s.head, Keys: f.keys(batch[i].Claim), Tail: f.args(&batch[i])}
	}
	for k, reply := range s.runMany(ctx, f.conn, cmds) {
		settle(places[k], reply.Values, reply.Err)
	}
}

// args are what the script of an operation takes.
func (f *foreign) args(op *driver.Op) []string {
	c := op.Claim
	owner, token := f.opts.Layout.owner(c.ID), tokenText(c.Token)
	if op.Kind == driver.OpRequest {
		keep := max(cmp.Or(f.opts.Keep, longKeep), keepTTLs*c.TTL)
		return []string{owner, token, msText(c.TTL), msText(keep), flag(c.Queue), flag(c.Detached)}
	}
	ttl := min(c.TTL, maxTTL)
	if ttl <= 0 {
		ttl = barred
	}
	return []string{owner, token, msText(ttl)}
}

// result reads the answer to an operation. A claim that waits has no place.
func (f *foreign) result(op *driver.Op, values []string, err error) (r driver.Result) {
	switch {
	case err != nil:
		r.Err = err
	case op.Kind == driver.OpRequest:
		r.Status, r.Err = parseForeign(op.Claim, values)
	default:
		f.listener.forget(op.Claim.ID)
		r.Err = done(values)
	}
	return r
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// msText writes a time as scripts take it.
func msText(d time.Duration) string { return strconv.FormatInt(driver.Milliseconds(d), 10) }
