package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
)

// Adapt puts a Driver behind the interface of a [BatchDriver], so that callers of the latter can use every
// engine while some engines have the former alone. It does each operation of a batch in a goroutine of its own,
// and all renewals of a batch as one: see [Renewer]. Traits.Alone is 0, so that no other operations need to
// gather.
//
// An event may be missed between the result of OpWatch and the moment at which the driver has begun to watch.
func Adapt(d Driver) BatchDriver {
	a := &adapted{driver: d, traits: d.Traits(), followed: make(map[string]*follower), watched: make(map[string]bool)}
	a.traits.Store = Identity(d)
	a.traits.Ops = KindsOf(OpRequest, OpRelease, OpWatch) | kindsOf(d)
	a.open, a.close = context.WithCancel(context.Background())
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

// An adapted driver is a Driver behind the interface of a BatchDriver.
type adapted struct {
	driver Driver
	traits Traits

	open    context.Context // ends with Close
	close   context.CancelFunc
	telling sync.WaitGroup // goroutines that tell events

	mu       sync.Mutex
	tells    map[*func(Event)]struct{}
	followed map[string]*follower // by the claim's ID
	watched  map[string]bool      // names of locks of which a change will be told
}

// Unwrap implements [Wrapper].
func (a *adapted) Unwrap() Driver { return a.driver }

// Traits implements [BatchDriver].
func (a *adapted) Traits() Traits { return a.traits }

// Close implements [BatchDriver].
func (a *adapted) Close() error {
	a.mu.Lock()
	a.close()
	followed := maps.Clone(a.followed)
	clear(a.followed)
	a.mu.Unlock()
	for _, f := range followed {
		a.end(f)
	}
	a.telling.Wait()
	return a.driver.Close()
}

// Do implements [BatchDriver].
func (a *adapted) Do(ctx context.Context, batch []Op, done func(int, Result)) {
	if len(batch) == 1 {
		done(0, a.do(ctx, batch[0]))
		return
	}
	var c crowd
	var renewals []int
	for i, op := range batch {
		if op.Kind == OpRequest && op.Claim.Token != 0 {
			renewals = append(renewals, i)
			continue
		}
		c.run(func() { done(i, a.do(ctx, op)) })
	}
	if len(renewals) > 0 {
		c.run(func() { a.renew(ctx, batch, renewals, done) })
	}
	c.wait()
}

// renew requests those claims of a batch that were queued before.
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
		r.Err = a.watch(ctx, c.Name)
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

// A crowd of goroutines does something for one caller, who gets their panics.
type crowd struct {
	running sync.WaitGroup
	mu      sync.Mutex
	panics  []error
}

func (c *crowd) run(f func()) {
	c.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.panics = append(c.panics, fmt.Errorf("%v\n\n%s", p, debug.Stack()))
			}
		}()
		f()
	})
}

func (c *crowd) wait() {
	c.running.Wait()
	if err := errors.Join(c.panics...); err != nil {
		panic(err)
	}
}
