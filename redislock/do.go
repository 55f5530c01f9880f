package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// ops are the operations of the native layout.
var ops = driver.KindsOf(
	driver.OpRequest, driver.OpPropose, driver.OpRelease, driver.OpBreak, driver.OpRevoke,
	driver.OpSetValue, driver.OpValue, driver.OpQueue, driver.OpWatch,
)

// Do implements [driver.Driver]. What changes claims goes as scripts of up to 24 operations, all in one pipeline,
// with one WAIT behind it where replicas must confirm. In a cluster each operation is a script of its own.
func (d *native) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	x := &exchange{native: d, ctx: ctx, done: done, single: len(batch) == 1}
	defer x.group.Wait()
	if err := ctx.Err(); err != nil {
		for i := range batch {
			done(i, driver.Result{Err: unsent(err)})
		}
		return
	}
	x.start(batch)
}

// unsent is the error for an operation of which nothing has left this client.
func unsent(err error) error { return fmt.Errorf("%w: %w", driver.ErrUnsent, err) }

// An exchange is one call of Do.
type exchange struct {
	*native
	ctx    context.Context
	done   func(int, driver.Result)
	single bool // the batch has one operation, so nothing else waits for its caller's goroutine
	group  driver.Group
	room   [1]step // for the operation of a batch that has one
}

// A step is a script that does one operation of a batch.
type step struct {
	operation
	at     int // in the batch
	op     *driver.Op
	queued *driver.Status // what the server has said of the claim before; nil if it was not asked
}

// start does each operation as its kind needs it.
func (x *exchange) start(batch []driver.Op) {
	steps := x.room[:0]
	if !x.single {
		steps = make([]step, 0, len(batch))
	}
	for i := range batch {
		op := &batch[i]
		switch op.Kind {
		case driver.OpRequest, driver.OpPropose, driver.OpRelease, driver.OpBreak, driver.OpRevoke, driver.OpSetValue:
			if x.mustListenFirst(op) {
				x.apart(func() { x.listenAndSend(&step{at: i, op: op}) })
				continue
			}
			steps = append(steps, step{at: i, op: op})
			if last := len(steps) - 1; !x.prepare(&steps[last]) {
				steps = steps[:last]
			}
		default:
			x.apart(func() { x.look(&step{at: i, op: op}) })
		}
	}
	x.send(steps)
}

// apart does what may take long while other operations are done.
func (x *exchange) apart(f func()) {
	if x.single {
		f()
	} else {
		x.group.Go(f)
	}
}

// fail tells that a step went wrong. What is queued already is so, whatever was not sent about it since.
func (x *exchange) fail(s *step, err error) {
	if s.queued != nil && errors.Is(err, driver.ErrUnsent) {
		x.done(s.at, driver.Result{Status: *s.queued})
		return
	}
	x.done(s.at, driver.Result{Err: err})
}

// mustListenFirst reports whether a claim would wait, and this client does not yet hear what happens to it: its record
// names the channel, and a grant may be published once it is queued.
func (x *exchange) mustListenFirst(op *driver.Op) bool {
	return op.Kind == driver.OpRequest && op.Claim.Queue && x.listener.eager() &&
		x.listener.address(op.Claim.Name) == nowhere
}

func (x *exchange) listenAndSend(s *step) {
	if err := x.listener.ready(x.ctx, s.op.Claim.Name); err != nil {
		if err = explain(err); !driver.IsAnswer(err) {
			err = unsent(err)
		}
		x.fail(s, err)
		return
	}
	x.sendOne(s)
}

func (x *exchange) sendOne(s *step) {
	if x.prepare(s) {
		x.send([]step{*s})
	}
}

// prepare makes the script of a step. It is false if there is none, which the caller has been told.
func (x *exchange) prepare(s *step) bool {
	o, err := x.scriptOf(s.op)
	if err != nil {
		x.fail(s, err)
		return false
	}
	s.operation = o
	return true
}

func (x *exchange) scriptOf(op *driver.Op) (o operation, err error) {
	var k keys
	c := op.Claim
	switch op.Kind {
	case driver.OpRequest:
		if k, err = x.native.begin(x.ctx, c); err == nil {
			x.listener.extend(c, op.Follow)
			o = x.operation(x.requestScript(c), k, x.requestArgs(c, op.Try))
		}
	case driver.OpPropose:
		var args []string
		if k, args, err = x.proposal(x.ctx, c, op.Token); err == nil {
			o = x.operation(&x.scripts.propose, k, args)
		}
	case driver.OpRelease:
		if k, err = x.keys.of(c.Name); err == nil {
			o = x.operation(&x.scripts.release, k, x.releaseArgs(c))
		}
	case driver.OpSetValue:
		o, err = x.settingValue(c, op.Value)
	default:
		if c.ID == ForeignID {
			return o, errForeign
		}
		if k, err = x.keys.of(c.Name); err == nil {
			o = operation{script: x.actScript(op.Kind), keys: k.all(), args: []string{c.ID}}
		}
	}
	return o, err
}

func (x *exchange) actScript(kind driver.Kind) *script {
	if kind == driver.OpBreak {
		return &x.scripts.cancel
	}
	return &x.scripts.revoke
}

// look does an operation that is no script on a claim.
func (x *exchange) look(s *step) {
	var r driver.Result
	name := s.op.Claim.Name
	switch s.op.Kind {
	case driver.OpValue:
		r.Value, r.Err = x.value(x.ctx, name)
	case driver.OpQueue:
		most := s.op.Most
		if most == 0 {
			most = driver.All
		}
		r.Queue, r.Err = x.queue(x.ctx, name, most)
	case driver.OpLife:
		r.Life, r.Err = x.life(x.ctx)
	case driver.OpWatch:
		told, err := x.tellChange(x.ctx, name)
		x.fail(s, err)
		told()
		return
	default:
		r.Err = driver.Unsupported(x.Traits(), s.op.Kind.String())
	}
	x.done(s.at, r)
}

// settle tells what came of a step, or goes on with it. short is the error for too few replicas.
func (x *exchange) settle(s *step, values []string, err, short error) {
	switch s.op.Kind {
	case driver.OpRequest:
		x.requested(s, values, err, short)
	case driver.OpPropose:
		x.proposed(s, values, cmp.Or(err, short))
	case driver.OpSetValue:
		x.fail(s, valueSet(values, cmp.Or(err, short)))
	default:
		x.ended(s, values, err)
	}
}

func (x *exchange) proposed(s *step, values []string, err error) {
	var r driver.Result
	if r.Err = err; err == nil {
		r.Status, r.Life, r.Again, r.Err = parseVote(s.op.Claim, s.op.Token, values)
	}
	if r.Err != nil {
		r = driver.Result{Err: r.Err}
	}
	x.done(s.at, r)
}

func (x *exchange) requested(s *step, values []string, err, short error) {
	if err != nil && deniedInScript(err) && s.op.Claim.Token == 0 {
		x.apart(func() { x.fail(s, x.undoDenied(x.ctx, s.op.Claim, err)) })
		return
	}
	if err != nil {
		x.fail(s, err)
		return
	}
	values, more := cutMore(values)
	st, failed := x.answered(s.op.Claim, values)
	switch {
	case failed != nil:
		x.fail(s, failed)
	case st.Granted && short != nil:
		x.apart(func() {
			_, err := x.confirmed(x.ctx, s.op.Claim, st, short)
			x.fail(s, err)
		})
	case more && !st.Granted:
		x.done(s.at, driver.Result{Again: true})
	default:
		x.follow(s, st)
	}
}

// follow has this client hear of a claim that waits, or that is followed though it is granted.
func (x *exchange) follow(s *step, st driver.Status) {
	c := &s.op.Claim
	switch {
	case !st.Granted && !c.Queue:
		x.listener.forget(c.ID)
	case st.Granted && !s.op.Follow || x.listener.hears(c.ID):
	default:
		x.apart(func() { x.listenAndAsk(s, st) })
		return
	}
	x.done(s.at, driver.Result{Status: st})
}

// listenAndAsk listens for a claim that is followed. Its record named no channel until now, so something may have
// happened to it without a word. Asking again names the channel, and answers with what happened before. With its token
// the request is a renewal: it queues nothing anew.
func (x *exchange) listenAndAsk(s *step, st driver.Status) {
	err := explain(x.listener.ready(x.ctx, s.op.Claim.Name))
	switch {
	case err != nil && st.Granted: // it is told of once the subscription works
		x.done(s.at, driver.Result{Status: st})
	case errors.Is(err, driver.ErrRefused):
		x.fail(s, x.leave(x.ctx, s.op.Claim, st, err))
	case err != nil:
		x.fail(s, err)
	default:
		op := *s.op // which is the caller's
		op.Claim.Token = st.Token
		x.sendOne(&step{at: s.at, op: &op, queued: &st})
	}
}

// ended tells of a script that ends a claim, or asks its holder to let go. What one run leaves to be granted is done by
// the next. Should that fail, whoever asks about the lock goes on.
func (x *exchange) ended(s *step, values []string, err error) {
	if s.op.Kind == driver.OpRelease && deniedInScript(err) {
		// The claim may have ended before the command that this user may not run, such as PUBLISH. Asking again tells.
		x.apart(func() { x.endAgain(s) })
		return
	}
	if err != nil {
		x.fail(s, err)
		return
	}
	answer, more := cutMore(values)
	if s.op.Kind == driver.OpRelease {
		x.listener.forget(s.op.Claim.ID)
		x.fail(s, released(answer, s.op.Try))
	} else {
		x.fail(s, done(answer))
	}
	if more {
		x.apart(func() { x.goOn(s) })
	}
}

// goOn runs a script again until it leaves nothing to be granted.
func (x *exchange) goOn(s *step) {
	for more := true; more; {
		values, _ := s.script.run(x.ctx, x.conn, s.keys, s.args)
		_, more = cutMore(values)
	}
}

func (x *exchange) endAgain(s *step) {
	values, err := s.script.run(x.ctx, x.conn, s.keys, s.args)
	if err != nil {
		x.fail(s, err)
		return
	}
	again := *s.op // which is the caller's
	again.Try = driver.TryAgain
	s.op = &again
	x.ended(s, values, nil)
}
