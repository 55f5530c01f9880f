package adapt

import (
	"context"

	"github.com/holdfast-go/holdfast/driver"
)

// Batches implements Do and Subscribe of [driver.Driver] for an engine with [Methods]. It does each operation of a
// batch in a goroutine of its own, and all brief requests of a batch as one. The engine's Traits have [Kinds], and
// Alone is 0, so that no other operations gather, unless it has a Do of its own before that of Batches. Its Close calls
// that of Batches first.
//
// An event may be missed between the result of OpWatch and the moment at which the engine has begun to watch.
type Batches struct {
	engine Methods
	events driver.Followers
}

// New returns the Batches of an engine.
func New(engine Methods) *Batches {
	b := &Batches{engine: engine}
	b.events.Wait, b.events.Changed = engine.Wait, engine.Watch
	if l, ok := engine.(listener); ok {
		b.events.Listen = l.Listen
	}
	return b
}

// Subscribe implements [driver.Driver].
func (b *Batches) Subscribe(tell func(driver.Event)) (stop func()) { return b.events.Subscribe(tell) }

// Close ends what waits for events.
func (b *Batches) Close() { b.events.Close() }

// Do implements [driver.Driver].
func (b *Batches) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	if len(batch) == 1 && !batch[0].Brief {
		done(0, b.do(ctx, batch[0]))
		return
	}
	var g driver.Group
	var renewals []int
	for i, op := range batch {
		if op.Kind == driver.OpRequest && op.Brief {
			renewals = append(renewals, i)
			continue
		}
		g.Go(func() { done(i, b.do(ctx, op)) })
	}
	switch len(renewals) {
	case 0:
	case len(batch):
		b.renew(ctx, batch, renewals, done)
	default:
		g.Go(func() { b.renew(ctx, batch, renewals, done) })
	}
	g.Wait()
}

// renew requests those claims of a batch that are only to be kept alive.
func (b *Batches) renew(ctx context.Context, batch []driver.Op, places []int, done func(int, driver.Result)) {
	claims := make([]driver.Claim, len(places))
	for k, i := range places {
		claims[k] = batch[i].Claim
	}
	results, err := b.engine.Renew(ctx, claims)
	for k, i := range places {
		r := driver.Result{Err: err}
		if err == nil {
			r = results[k]
		}
		b.events.Note(batch[i], r)
		done(i, r)
	}
}

// do makes one attempt at an operation.
func (b *Batches) do(ctx context.Context, op driver.Op) driver.Result {
	r := b.call(ctx, op)
	b.events.Note(op, r)
	return r
}

// call calls the method that does the operation.
func (b *Batches) call(ctx context.Context, op driver.Op) (r driver.Result) {
	e, c := b.engine, op.Claim
	switch op.Kind {
	case driver.OpRequest:
		r.Status, r.Err = e.Request(ctx, c)
	case driver.OpRelease:
		r.Err = e.Release(ctx, c)
	case driver.OpBreak:
		r.Err = e.Break(ctx, c.Name, c.ID)
	case driver.OpRevoke:
		r.Err = e.Revoke(ctx, c.Name, c.ID)
	case driver.OpSetValue:
		r.Err = e.SetValue(ctx, c, op.Value)
	case driver.OpValue:
		r.Value, r.Err = e.Value(ctx, c.Name)
	case driver.OpQueue:
		r.Queue, r.Err = b.queue(ctx, c.Name, op.Most)
	case driver.OpWatch:
		r.Err = b.events.Watch(ctx, c.Name)
	default:
		r.Err = driver.Unsupported(e.Traits(), op.Kind.String())
	}
	return r
}

// queue reads the first claims on a lock, or all of them.
func (b *Batches) queue(ctx context.Context, name string, most int) ([]driver.Entry, error) {
	if p, ok := b.engine.(peeker); ok && most > 0 {
		return p.Peek(ctx, name, most)
	}
	queue, err := b.engine.Queue(ctx, name)
	if most > 0 {
		queue = queue[:min(most, len(queue))]
	}
	return queue, err
}
