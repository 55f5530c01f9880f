package redislock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// A parcel is one command: a script that does a step, or several.
type parcel struct {
	script *script
	cmd    Command
	steps  []step
	places []int // where each answer of batch.lua belongs; nil: the script is that of one step
	reply  Reply
}

func parcelOf(one []step) parcel {
	s := &one[0]
	return parcel{script: s.script, cmd: Command{Head: s.script.head, Keys: s.keys, Tail: s.args}, steps: one}
}

// parcelOfMany puts steps together. Those that add nothing are done even when the server's memory is full.
func (x *exchange) parcelOfMany(steps []step) parcel {
	keys, args, places := writeBatch(len(steps), func(at int) *operation { return &steps[at].operation })
	of := &x.scripts.batchKeep
	for i := range steps {
		if group := steps[i].group; group != groupRenew && group != groupRelease {
			of = &x.scripts.batch
		}
	}
	script := of.on(len(keys))
	return parcel{
		script: &script, cmd: Command{Head: script.head, Keys: keys, Tail: args}, steps: steps, places: places,
	}
}

// pack makes commands of steps: as few as the server allows. It changes the order of the steps.
func (x *exchange) pack(steps []step) []parcel {
	var together []step
	if len(steps) > 1 && x.goTogether() {
		together, steps = split(steps)
	}
	parcels := make([]parcel, 0, (len(together)+mostInBatch-1)/mostInBatch+len(steps))
	for some := range slices.Chunk(together, mostInBatch) {
		if len(some) == 1 {
			parcels = append(parcels, parcelOf(some))
		} else {
			parcels = append(parcels, x.parcelOfMany(some))
		}
	}
	for one := range slices.Chunk(steps, 1) {
		parcels = append(parcels, parcelOf(one))
	}
	return parcels
}

// goTogether reports whether one script may be for the keys of several locks.
func (x *exchange) goTogether() bool { return !x.conn.Cluster() && x.server.isProven() }

// split puts the steps first that can go with others.
func split(steps []step) (together, others []step) {
	n := 0
	for i := range steps {
		if steps[i].group == "" {
			continue
		}
		if i != n {
			steps[i], steps[n] = steps[n], steps[i]
		}
		n++
	}
	return steps[:n], steps[n:]
}

// send does steps. Where replicas must confirm what some of them write, the others do not wait for that.
func (x *exchange) send(steps []step) {
	if len(steps) == 0 {
		return
	}
	if x.opts.Replicas == 0 && x.single {
		x.sendAlone(&steps[0])
		return
	}
	if x.opts.Replicas == 0 {
		x.deliver(x.pack(steps), x.plainly)
		return
	}
	var sure, others []step
	for _, s := range steps {
		if s.op.Kind == driver.OpRelease || s.op.Kind == driver.OpBreak || s.op.Kind == driver.OpRevoke {
			others = append(others, s)
		} else {
			sure = append(sure, s)
		}
	}
	if len(others) > 0 && len(sure) > 0 {
		x.group.Go(func() { x.deliver(x.pack(others), x.plainly) })
	} else if len(others) > 0 {
		x.deliver(x.pack(others), x.plainly)
	}
	if len(sure) > 0 {
		x.sendSurely(sure)
	}
}

// sendAlone does the step of a batch that has one operation, which needs no parcel.
func (x *exchange) sendAlone(s *step) {
	values, err := x.texts.run(x.ctx, s.script, x.conn, s.keys, s.args)
	x.settle(s, values, err, nil)
}

// sendSurely has replicas confirm what steps write. In a cluster, commands for different locks cannot share a
// connection.
func (x *exchange) sendSurely(steps []step) {
	if !x.conn.Cluster() {
		x.deliver(x.pack(steps), x.surely)
		return
	}
	for one := range slices.Chunk(steps, 1) {
		s := &one[0]
		x.apart(func() {
			leave, err := x.seats.enter(x.ctx, nodeOf(x.conn, s.keys[0]), s.group == groupRenew)
			if err != nil {
				x.fail(s, unsent(err))
				return
			}
			defer leave()
			x.deliver([]parcel{parcelOf(one)}, x.surely)
		})
	}
}

// A transport sends parcels, and notes the reply to each. short is the error for too few replicas that have what was
// written.
type transport func(ctx context.Context, parcels []parcel) (short error)

// plainly sends parcels as they are. In a cluster, those of a slot that moves are answered so.
func (x *exchange) plainly(ctx context.Context, parcels []parcel) error {
	conn := x.conn
	if s, ok := conn.(steady); ok {
		conn = s.Conn
	}
	sendTo(ctx, conn, parcels)
	return nil
}

// patiently sends parcels again while their slot moves.
func (x *exchange) patiently(ctx context.Context, parcels []parcel) error {
	sendTo(ctx, x.conn, parcels)
	return nil
}

func sendTo(ctx context.Context, conn Conn, parcels []parcel) {
	if len(parcels) == 1 {
		r := &parcels[0].reply
		r.Values, r.Err = conn.Do(ctx, parcels[0].cmd)
		return
	}
	take(parcels, conn.DoMany(ctx, commands(parcels, 0)))
}

// surely sends parcels with a WAIT behind them.
func (x *exchange) surely(ctx context.Context, parcels []parcel) error {
	replies := x.conn.DoTogether(ctx, append(commands(parcels, 1), x.opts.confirming()))
	take(parcels, replies)
	return x.opts.short(replies[len(parcels)])
}

// commands are those of parcels, with room for more.
func commands(parcels []parcel, more int) []Command {
	cmds := make([]Command, len(parcels), len(parcels)+more)
	for i := range parcels {
		cmds[i] = parcels[i].cmd
	}
	return cmds
}

// take notes the reply to each parcel.
func take(parcels []parcel, replies []Reply) {
	for i := range parcels {
		parcels[i].reply = replies[i]
	}
}

// deliver sends parcels in one pipeline, and settles their steps. A parcel of which the server did not know the script
// goes again.
func (x *exchange) deliver(parcels []parcel, send transport) {
	for round := 0; len(parcels) > 0; round++ {
		short := send(x.ctx, parcels)
		parcels = x.unpackAll(parcels, short, round)
	}
}

// unpackAll settles the steps of parcels, and returns those parcels that go again because the server did not know their
// script: the first with its text, so that the server knows it for the others, which follow by hash. Should the server
// have forgotten it once more in between, each goes with the text.
func (x *exchange) unpackAll(parcels []parcel, short error, round int) (again []parcel) {
	var known []string // texts that go along
	for i := range parcels {
		p := &parcels[i]
		switch err := p.reply.Err; {
		case isNoScript(err) && round < 2 && x.ctx.Err() != nil:
			x.failAll(p, unsent(x.ctx.Err()))
		case isNoScript(err) && round < 2:
			p.cmd.Head = p.script.full
			if round == 0 && slices.Contains(known, p.script.text) {
				p.cmd.Head = p.script.head
			}
			known = append(known, p.script.text)
			again = append(again, *p)
		case isMoving(err) && x.conn.Cluster():
			x.apart(func() { x.deliver(parcels[i:i+1:i+1], x.patiently) })
		default:
			x.unpack(p, short)
		}
	}
	return again
}

// unpack settles the steps of a parcel.
func (x *exchange) unpack(p *parcel, short error) {
	r := p.reply
	if p.places == nil {
		x.settle(&p.steps[0], r.Values, explain(r.Err), short)
		return
	}
	// A batch that the server refuses has done nothing. It may be refused for the sake of one operation: a release
	// needs no memory, which a request does.
	if refused, ok := errors.AsType[ReplyError](r.Err); ok {
		if strings.HasPrefix(string(refused), "CROSSSLOT") {
			x.server.learn(false, provenFor)
		}
		x.failAll(p, fmt.Errorf("%w: %w", driver.ErrBatchRejected, refused))
		return
	}
	for i, reply := range readBatch(r.Values, r.Err, p.places) {
		x.settle(&p.steps[i], reply.Values, reply.Err, short)
	}
}

func (x *exchange) failAll(p *parcel, err error) {
	for i := range p.steps {
		x.fail(&p.steps[i], err)
	}
}
