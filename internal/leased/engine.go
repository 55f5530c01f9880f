package leased

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An Engine is the protocol of claims over a [Store], as a [driver.Driver] and a [driver.Lister].
type Engine struct {
	store    Store
	facts    Facts
	lifetime context.Context // ends with Close
	end      context.CancelFunc
	running  Group
	claims   Claims[*claim]
	pool     pool
	chores   chores

	mu      sync.Mutex // guards what follows, and how claims are followed. It is taken before that of a claim
	tells   map[*func(driver.Event)]struct{}
	spots   map[Spot]*spot
	lookers map[string]*looker // those who watch queues, by the name of the lock
}

// New returns an engine over a store, which it closes.
func New(s Store) *Engine {
	d := &Engine{
		store: s, facts: s.Facts(),
		tells: make(map[*func(driver.Event)]struct{}), spots: make(map[Spot]*spot), lookers: make(map[string]*looker),
	}
	d.lifetime, d.end = context.WithCancel(context.Background())
	s.Subscribe(d.happened)
	return d
}

var ops = driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpBreak, driver.OpRevoke,
	driver.OpSetValue, driver.OpValue, driver.OpQueue, driver.OpWatch)

// Traits implements [driver.Driver].
func (d *Engine) Traits() driver.Traits {
	t := d.store.Traits()
	t.Ops = ops
	return t
}

// moves reports whether a claim can move from one session to another, and so from client to client.
func (d *Engine) moves() bool { return d.store.Traits().Detach }

// Subscribe implements [driver.Driver]. Claims that are requested while nobody has subscribed are not followed.
func (d *Engine) Subscribe(tell func(driver.Event)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tells[&tell] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.tells, &tell)
	}
}

// tell tells what has happened. d.mu is not held.
func (d *Engine) tell(events ...driver.Event) {
	if len(events) == 0 {
		return
	}
	d.mu.Lock()
	tells := make([]func(driver.Event), 0, len(d.tells))
	for tell := range d.tells {
		tells = append(tells, *tell)
	}
	d.mu.Unlock()
	for _, e := range events {
		for _, tell := range tells {
			tell(e)
		}
	}
}

// List implements [driver.Lister].
func (d *Engine) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if d.lifetime.Err() != nil {
			yield("", driver.ErrClosed)
			return
		}
		for name, err := range d.store.Names(ctx, prefix) {
			if !yield(name, err) || err != nil {
				return
			}
		}
	}
}

// Close implements [driver.Driver].
func (d *Engine) Close() error {
	d.end()
	d.claims.Stop()
	d.stopLookers()
	err := d.store.Close()
	d.running.Wait()
	return err
}

// within returns a context for what no caller waits for. It ends with the engine.
func (d *Engine) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.lifetime, limit)
}
