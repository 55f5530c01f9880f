package drivertest

import (
	"context"
	"errors"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// A Facade is a driver with a method for each kind of operation, for tests. It sends through a [batch.Sender], and
// keeps the events about a claim from before its first request until its release. All methods are safe for concurrent
// use. What they do is what [driver.Kind] says.
type Facade struct {
	driver driver.Driver
	sender *batch.Sender
	stop   func()
	closed chan struct{}
	close  sync.Once

	mu       sync.Mutex
	inboxes  map[string]*inbox // by the claim's ID
	watchers map[string]map[chan struct{}]struct{}
}

// An inbox keeps the newest event about a claim until Wait collects it. The Facade's mutex is held for all but
// receiving from it.
type inbox struct {
	newest chan driver.Event
	moved  map[*func()]struct{} // called with each event
}

func newInbox() *inbox {
	return &inbox{newest: make(chan driver.Event, 1), moved: make(map[*func()]struct{})}
}

// put replaces what nobody has collected.
func (in *inbox) put(e driver.Event) {
	select {
	case <-in.newest:
	default:
	}
	in.newest <- e
	for moved := range in.moved {
		(*moved)()
	}
}

// NewFacade returns a Facade of d, which closes d. A Facade is returned as it is.
func NewFacade(d driver.Driver) *Facade {
	if f, ok := d.(*Facade); ok {
		return f
	}
	f := &Facade{
		driver: d, sender: batch.New(d, nil), closed: make(chan struct{}),
		inboxes: make(map[string]*inbox), watchers: make(map[string]map[chan struct{}]struct{}),
	}
	f.stop = d.Subscribe(f.tell)
	return f
}

// tell keeps an event for those whom it is for.
func (f *Facade) tell(e driver.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.ID == "" {
		f.wake(e.Name)
	}
	if e.Name != "" && e.ID == "" {
		return
	}
	for id, in := range f.inboxes {
		if id == e.ID || e.ID == "" {
			in.put(e)
		}
	}
}

// wake wakes those that watch a queue; all if name is empty. mu is held.
func (f *Facade) wake(name string) {
	for watched, channels := range f.watchers {
		if name == "" || watched == name {
			for c := range channels {
				close(c)
			}
			delete(f.watchers, watched)
		}
	}
}

// open returns the inbox of a claim.
func (f *Facade) open(c driver.Claim) *inbox {
	f.mu.Lock()
	defer f.mu.Unlock()
	in := f.inboxes[c.ID]
	if in == nil {
		in = newInbox()
		f.inboxes[c.ID] = in
	}
	return in
}

// forget closes the inbox of a claim that has ended.
func (f *Facade) forget(c driver.Claim) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inboxes, c.ID)
}

// do sends one operation.
func (f *Facade) do(ctx context.Context, kind driver.Kind, c driver.Claim) driver.Result {
	return f.sender.Do(ctx, driver.Op{Kind: kind, Claim: c, Follow: kind == driver.OpRequest}, 0).Result
}

// on names a lock.
func on(name string) driver.Claim { return driver.Claim{Name: name} }

// Unwrap implements [driver.Wrapper].
func (f *Facade) Unwrap() driver.Driver { return f.driver }

// Traits implements [driver.Driver].
func (f *Facade) Traits() driver.Traits { return f.driver.Traits() }

// Do implements [driver.Driver].
func (f *Facade) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	f.driver.Do(ctx, ops, done)
}

// Subscribe implements [driver.Driver].
func (f *Facade) Subscribe(tell func(driver.Event)) (stop func()) { return f.driver.Subscribe(tell) }

// Close implements [driver.Driver].
func (f *Facade) Close() error {
	f.stop()
	f.close.Do(func() { close(f.closed) })
	return f.driver.Close()
}

// Request requests a claim, which is followed also once it is granted.
func (f *Facade) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	f.open(c)
	r := f.do(ctx, driver.OpRequest, c)
	if errors.Is(r.Err, driver.ErrGone) || r.Err == nil && !r.Status.Granted && !c.Queue {
		f.forget(c)
	}
	return r.Status, r.Err
}

// Renew requests claims that were queued before, in one batch, in brief.
func (f *Facade) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	ops := make([]driver.Op, len(claims))
	var answers sync.WaitGroup
	answers.Add(len(claims))
	for i, c := range claims {
		f.open(c)
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Follow: true, Brief: true}
	}
	f.sender.Go(ctx, ops, 0, func(i int, a batch.Answer) {
		results[i] = a.Result
		answers.Done()
	})
	answers.Wait()
	return results, nil
}

// Release releases a claim.
func (f *Facade) Release(ctx context.Context, c driver.Claim) error {
	err := f.do(ctx, driver.OpRelease, c).Err
	if err == nil || errors.Is(err, driver.ErrGone) && c.Token == 0 {
		f.forget(c)
	}
	return err
}

// Queue returns the live claims on a lock, oldest first.
func (f *Facade) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	r := f.do(ctx, driver.OpQueue, on(name))
	return r.Queue, r.Err
}

// Peek returns the first n of them.
func (f *Facade) Peek(ctx context.Context, name string, n int) ([]driver.Entry, error) {
	r := f.sender.Do(ctx, driver.Op{Kind: driver.OpQueue, Claim: on(name), Most: max(n, 1)}, 0)
	return r.Queue[:min(n, len(r.Queue))], r.Err
}

// Wait returns what was told about a claim since the last Wait, or blocks until something is, the Facade is closed, or
// ctx ends. The zero Status means "ask again", which is also what it says about a claim that this Facade has not
// requested.
func (f *Facade) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	f.mu.Lock()
	in := f.inboxes[c.ID]
	f.mu.Unlock()
	if in == nil {
		return driver.Status{}, nil
	}
	select {
	case e := <-in.newest:
		if e.Err != nil {
			f.forget(c)
		}
		return e.Status, e.Err
	case <-f.closed:
		return driver.Status{}, driver.ErrClosed
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}

// Listen has moved called with each event about a claim until stop is called, and at first if there may have been one
// before.
func (f *Facade) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in := f.inboxes[c.ID]
	if in == nil || len(in.newest) > 0 {
		moved() // something may have happened before
	}
	if in == nil {
		in = newInbox()
		f.inboxes[c.ID] = in
	}
	in.moved[&moved] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(in.moved, &moved)
	}, nil
}

// Watch blocks until the queue of a lock may have changed, or ctx ends.
func (f *Facade) Watch(ctx context.Context, name string) error {
	change := make(chan struct{})
	f.mu.Lock()
	if f.watchers[name] == nil {
		f.watchers[name] = make(map[chan struct{}]struct{})
	}
	f.watchers[name][change] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers[name], change)
	}()
	if err := f.do(ctx, driver.OpWatch, on(name)).Err; err != nil {
		return err
	}
	select {
	case <-change:
		return nil
	case <-f.closed:
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Propose proposes a token for a claim. The Life is that of the engine which has answered.
func (f *Facade) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	r := f.sender.Do(ctx, driver.Op{Kind: driver.OpPropose, Claim: c, Token: token}, 0)
	return r.Status, r.Life, r.Err
}

// Life returns the life of the engine.
func (f *Facade) Life(ctx context.Context) (driver.Life, error) {
	r := f.do(ctx, driver.OpLife, driver.Claim{})
	return r.Life, r.Err
}

// Break ends a claim by force.
func (f *Facade) Break(ctx context.Context, name, id string) error {
	return f.do(ctx, driver.OpBreak, driver.Claim{Name: name, ID: id}).Err
}

// Revoke asks the holder of a claim to release it.
func (f *Facade) Revoke(ctx context.Context, name, id string) error {
	return f.do(ctx, driver.OpRevoke, driver.Claim{Name: name, ID: id}).Err
}

// Value returns the value of a lock.
func (f *Facade) Value(ctx context.Context, name string) (driver.Value, error) {
	r := f.do(ctx, driver.OpValue, on(name))
	return r.Value, r.Err
}

// SetValue sets the value of a claim's lock. A value that no lock can keep is refused before anything is sent, as all
// callers of drivers do.
func (f *Facade) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	if err := v.Validate(); err != nil && f.Traits().Ops.Has(driver.OpSetValue) {
		return err
	}
	return f.sender.Do(ctx, driver.Op{Kind: driver.OpSetValue, Claim: c, Value: v}, 0).Err
}
