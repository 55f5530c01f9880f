package driver

import (
	"context"
	"fmt"
)

// Adapt puts a Driver behind the interface of a [BatchDriver], so that callers of the latter can use every
// engine while some engines have the former alone. It does each operation of a batch in a goroutine of its own,
// and all brief requests of a batch as one: see [Renewer]. Traits.Alone is 0, so that no other operations need to
// gather.
//
// An event may be missed between the result of OpWatch and the moment at which the driver has begun to watch.
func Adapt(d Driver) BatchDriver {
	a := &adapted{driver: d, traits: d.Traits(), follows: can[Waiter](d)}
	a.traits.Store = Identity(d)
	a.traits.Ops = KindsOf(OpRequest, OpRelease, OpWatch) | kindsOf(d)
	a.events.Wait = func(ctx context.Context, c Claim) (Status, error) { return Wait(ctx, d, c) }
	a.events.Changed = func(ctx context.Context, name string) error { return Watch(ctx, d, name) }
	if l, ok := As[Listener](d); ok {
		a.follows, a.events.Listen = true, l.Listen
	}
	return a
}

// Batched returns a driver of either interface as a BatchDriver: as it is if it is one, and by [Adapt] otherwise.
func Batched(d Either) BatchDriver {
	if b, ok := d.(BatchDriver); ok {
		return b
	}
	return Adapt(d.(Driver))
}

// kindsOf returns the operations that d can do beside those that every driver can.
func kindsOf(d Driver) (kinds Kinds) {
	for kind, ok := range map[Kind]bool{
		OpPropose:  can[Proposer](d),
		OpBreak:    can[Breaker](d),
		OpRevoke:   can[Revoker](d),
		OpSetValue: can[ValueStore](d),
		OpValue:    can[ValueStore](d),
		OpQueue:    d.Traits().Listed,
		OpLife:     can[Living](d),
	} {
		if ok {
			kinds |= KindsOf(kind)
		}
	}
	return kinds
}

func can[T any](d Driver) bool {
	_, ok := As[T](d)
	return ok
}

// An adapted driver is a Driver behind the interface of a BatchDriver. Its events come from the methods by which
// others wait: Wait, Listen and Watch.
type adapted struct {
	driver  Driver
	traits  Traits
	follows bool // granted claims
	events  Followers
}

// Unwrap implements [Wrapper].
func (a *adapted) Unwrap() Driver { return a.driver }

// Traits implements [BatchDriver].
func (a *adapted) Traits() Traits { return a.traits }

// Subscribe implements [BatchDriver].
func (a *adapted) Subscribe(tell func(Event)) (stop func()) { return a.events.Subscribe(tell) }

// Close implements [BatchDriver].
func (a *adapted) Close() error {
	a.events.Close()
	return a.driver.Close()
}

// Do implements [BatchDriver].
func (a *adapted) Do(ctx context.Context, batch []Op, done func(int, Result)) {
	if len(batch) == 1 && !batch[0].Brief {
		done(0, a.do(ctx, batch[0]))
		return
	}
	var g Group
	var renewals []int
	for i, op := range batch {
		if op.Kind == OpRequest && op.Brief {
			renewals = append(renewals, i)
			continue
		}
		g.Go(func() { done(i, a.do(ctx, op)) })
	}
	switch len(renewals) {
	case 0:
	case len(batch):
		a.renew(ctx, batch, renewals, done)
	default:
		g.Go(func() { a.renew(ctx, batch, renewals, done) })
	}
	g.Wait()
}

// renew requests those claims of a batch that are only to be kept alive.
func (a *adapted) renew(ctx context.Context, batch []Op, places []int, done func(int, Result)) {
	claims := make([]Claim, len(places))
	for k, i := range places {
		claims[k] = batch[i].Claim
	}
	results, err := Renew(ctx, a.driver, claims)
	if err == nil && len(results) != len(claims) {
		err = fmt.Errorf("the driver returned %d answers for %d claims", len(results), len(claims))
	}
	for k, i := range places {
		r := Result{Err: err}
		if err == nil {
			r = results[k]
		}
		a.note(batch[i], r)
		done(i, r)
	}
}

// do makes one attempt at an operation.
func (a *adapted) do(ctx context.Context, op Op) (r Result) {
	r = a.call(ctx, op)
	a.note(op, r)
	return r
}

// note has the claim followed, or left, as the result says.
func (a *adapted) note(op Op, r Result) {
	op.Follow = op.Follow && a.follows
	a.events.Note(op, r)
}

// call calls the method that does the operation.
func (a *adapted) call(ctx context.Context, op Op) (r Result) {
	d, c := a.driver, op.Claim
	switch op.Kind {
	case OpRequest:
		r.Status, r.Err = d.Request(ctx, c)
	case OpPropose:
		r.Status, r.Life, r.Err = propose(ctx, d, c, op.Token)
	case OpRelease:
		r.Err = d.Release(ctx, c)
	case OpBreak:
		r.Err = Break(ctx, d, c.Name, c.ID)
	case OpRevoke:
		r.Err = Revoke(ctx, d, c.Name, c.ID)
	case OpSetValue:
		r.Err = SetValue(ctx, d, c, op.Value)
	case OpValue:
		r.Value, r.Err = ValueOf(ctx, d, c.Name)
	case OpQueue:
		r.Queue, r.Err = queue(ctx, d, c.Name, op.Most)
	case OpWatch:
		r.Err = a.events.Watch(ctx, c.Name)
	case OpLife:
		r.Life, r.Err = LifeOf(ctx, d)
	default:
		r.Err = Unsupported(a.traits, op.Kind.String())
	}
	return r
}

// propose proposes a token, with the engine's life if that is known.
func propose(ctx context.Context, d Driver, c Claim, token uint64) (st Status, life Life, err error) {
	if v, ok := As[Voter](d); ok {
		return v.Vote(ctx, c, token)
	}
	st, err = Propose(ctx, d, c, token)
	return st, Life{}, err
}

// queue reads the first claims on a lock, or all of them.
func queue(ctx context.Context, d Driver, name string, most int) ([]Entry, error) {
	if most > 0 {
		return Peek(ctx, d, name, most)
	}
	return d.Queue(ctx, name)
}
