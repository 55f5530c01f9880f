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
	script script
	cmd    Command
	steps  []step
	places []int // where each answer of batch.lua belongs; nil: the script is that of one step
}

func parcelOf(s step) parcel {
	return parcel{script: *s.script, cmd: Command{Head: s.script.head, Keys: s.keys, Tail: s.args}, steps: []step{s}}
}

// parcelOfMany puts steps together. Those that add nothing are done even when the server's memory is full.
func (x *exchange) parcelOfMany(steps []step) parcel {
	ops := make([]operation, len(steps))
	adds := false
	for i, s := range steps {
		ops[i] = s.operation
		adds = adds || s.group != groupRenew && s.group != groupRelease
	}
	keys, args, places := writeBatch(ops)
	of := &x.scripts.batchKeep
	if adds {
		of = &x.scripts.batch
	}
	script := of.on(len(keys))
	return parcel{script: script, cmd: Command{Head: script.head, Keys: keys, Tail: args}, steps: steps, places: places}
}

// pack makes commands of steps: as few as the server allows.
func (x *exchange) pack(steps []step) []parcel {
	parcels := make([]parcel, 0, len(steps))
	var together []step
	joins := func(s step) bool { return s.group != "" }
	if len(steps) > 1 && !x.conn.Cluster() && x.combiner.server.isProven() {
		for _, s := range steps {
			if joins(s) {
				together = append(together, s)
			}
		}
		steps = slices.DeleteFunc(steps, joins)
	}
	for some := range slices.Chunk(together, mostInBatch) {
		if len(some) == 1 {
			steps = append(steps, some...)
		} else {
			parcels = append(parcels, x.parcelOfMany(some))
		}
	}
	for _, s := range steps {
		parcels = append(parcels, parcelOf(s))
	}
	return parcels
}

// send does steps. Where replicas must confirm what some of them write, the others do not wait for that.
func (x *exchange) send(steps []step) {
	if len(steps) == 0 {
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
		x.crew.run(func() { x.deliver(x.pack(others), x.plainly) })
	} else if len(others) > 0 {
		x.deliver(x.pack(others), x.plainly)
	}
	if len(sure) > 0 {
		x.sendSurely(sure)
	}
}

// sendSurely has replicas confirm what steps write. In a cluster, commands for different locks cannot share a
// connection.
func (x *exchange) sendSurely(steps []step) {
	if !x.conn.Cluster() {
		x.deliver(x.pack(steps), x.surely)
		return
	}
	for _, s := range steps {
		x.apart(func() {
			leave, err := x.seats.enter(x.ctx, nodeOf(x.conn, s.keys[0]), s.group == groupRenew)
			if err != nil {
				x.fail(s, unsent(err))
				return
			}
			defer leave()
			x.deliver([]parcel{parcelOf(s)}, x.surely)
		})
	}
}

// A transport sends commands and answers each. short is the error for too few replicas that have what was written.
type transport func(ctx context.Context, cmds []Command) (replies []Reply, short error)

// plainly sends commands as they are. In a cluster, those of a slot that moves are answered so.
func (x *exchange) plainly(ctx context.Context, cmds []Command) ([]Reply, error) {
	conn := x.conn
	if s, ok := conn.(steady); ok {
		conn = s.Conn
	}
	return sendTo(ctx, conn, cmds), nil
}

// patiently sends commands again while their slot moves.
func (x *exchange) patiently(ctx context.Context, cmds []Command) ([]Reply, error) {
	return sendTo(ctx, x.conn, cmds), nil
}

func sendTo(ctx context.Context, conn Conn, cmds []Command) []Reply {
	if len(cmds) == 1 {
		values, err := conn.Do(ctx, cmds[0])
		return []Reply{{values, err}}
	}
	return conn.DoMany(ctx, cmds)
}

// surely sends commands with a WAIT behind them.
func (x *exchange) surely(ctx context.Context, cmds []Command) ([]Reply, error) {
	all := x.conn.DoTogether(ctx, append(slices.Clip(cmds), x.opts.confirming()))
	return all[:len(cmds)], x.opts.short(all[len(cmds)])
}

// deliver sends parcels in one pipeline, and settles their steps. A parcel of which the server did not know the script
// goes again.
func (x *exchange) deliver(parcels []parcel, send transport) {
	for round := 0; len(parcels) > 0; round++ {
		cmds := make([]Command, len(parcels))
		for i := range parcels {
			cmds[i] = parcels[i].cmd
		}
		replies, short := send(x.ctx, cmds)
		parcels = x.unpackAll(parcels, replies, short, round)
	}
}

// unpackAll settles the steps of parcels, and returns those parcels that go again because the server did not know their
// script: the first with its text, so that the server knows it for the others, which follow by hash. Should the server
// have forgotten it once more in between, each goes with the text.
func (x *exchange) unpackAll(parcels []parcel, replies []Reply, short error, round int) (again []parcel) {
	var known []string // texts that go along
	for i, r := range replies {
		p := &parcels[i]
		switch {
		case isNoScript(r.Err) && round < 2 && x.ctx.Err() != nil:
			x.failAll(p, unsent(x.ctx.Err()))
		case isNoScript(r.Err) && round < 2:
			p.cmd.Head = p.script.full
			if round == 0 && slices.Contains(known, p.script.text) {
				p.cmd.Head = p.script.head
			}
			known = append(known, p.script.text)
			again = append(again, *p)
		case isMoving(r.Err) && x.conn.Cluster():
			x.apart(func() { x.deliver(parcels[i:i+1:i+1], x.patiently) })
		default:
			x.unpack(p, r, short)
		}
	}
	return again
}

// unpack settles the steps of a parcel.
func (x *exchange) unpack(p *parcel, r Reply, short error) {
	if p.places == nil {
		x.settle(p.steps[0], r.Values, explain(r.Err), short)
		return
	}
	// A batch that the server refuses has done nothing. It may be refused for the sake of one operation: a release
	// needs no memory, which a request does.
	if refused, ok := errors.AsType[ReplyError](r.Err); ok {
		if strings.HasPrefix(string(refused), "CROSSSLOT") {
			x.combiner.server.learn(false, provenFor)
		}
		x.failAll(p, fmt.Errorf("%w: %w", driver.ErrBatchRejected, refused))
		return
	}
	for i, reply := range readBatch(r.Values, r.Err, p.places) {
		x.settle(p.steps[i], reply.Values, reply.Err, short)
	}
}

func (x *exchange) failAll(p *parcel, err error) {
	for _, s := range p.steps {
		x.fail(s, err)
	}
}
