package drivertest

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// A Facade has the methods of a [driver.Driver] and its abilities over a [driver.BatchDriver], so that tests of
// the former try the latter. It sends through a [batch.Sender], and keeps the events about a claim from before
// its first request until its release.
type Facade struct {
	driver driver.BatchDriver
	sender *batch.Sender
	stop   func()

	mu       sync.Mutex
	inboxes  map[string]*inbox // by the claim's ID
	watchers map[string]map[chan struct{}]struct{}
}

// An inbox keeps what was told about a claim until Wait collects it.
type inbox struct {
	name  string
	mail  driver.Mailbox[driver.Event]
	moved driver.Listeners
}

// NewFacade returns a Facade of d, which closes d.
func NewFacade(d driver.BatchDriver) *Facade {
	f := &Facade{
		driver: d, sender: batch.New(d, nil),
		inboxes: make(map[string]*inbox), watchers: make(map[string]map[chan struct{}]struct{}),
	}
	f.stop = d.Subscribe(f.tell)
	return f
}

// offers reports whether the driver of a Facade has an ability, of which it may be that it is an operation.
func offers[T any](f *Facade) bool {
	ops := f.Traits().Ops
	switch any((*T)(nil)).(type) {
	case *driver.Proposer, *driver.Voter:
		return ops.Has(driver.OpPropose)
	case *driver.Breaker:
		return ops.Has(driver.OpBreak)
	case *driver.Revoker:
		return ops.Has(driver.OpRevoke)
	case *driver.ValueStore:
		return ops.Has(driver.OpValue)
	case *driver.Living:
		return ops.Has(driver.OpLife)
	case *driver.Peeker:
		return ops.Has(driver.OpQueue)
	case *driver.Identifier:
		return f.Identity() != ""
	case *driver.Waiter, *driver.Listener, *driver.Watcher, *driver.Renewer:
		return true
	}
	_, ok := driver.As[T](f.driver)
	return ok
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
			in.mail.Put(e)
			in.moved.Call()
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
		in = &inbox{name: c.Name, mail: driver.NewMailbox[driver.Event]()}
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

// Traits implements [driver.Driver].
func (f *Facade) Traits() driver.Traits { return f.driver.Traits() }

// Unwrap implements [driver.BatchWrapper].
func (f *Facade) Unwrap() driver.BatchDriver { return f.driver }

// Close implements [driver.Driver].
func (f *Facade) Close() error {
	f.stop()
	return f.driver.Close()
}

// Request implements [driver.Driver].
func (f *Facade) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	f.open(c)
	r := f.do(ctx, driver.OpRequest, c)
	if errors.Is(r.Err, driver.ErrGone) || r.Err == nil && !r.Status.Granted && !c.Queue {
		f.forget(c)
	}
	return r.Status, r.Err
}

// Renew implements [driver.Renewer].
func (f *Facade) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	results := make([]driver.Result, len(claims))
	ops := make([]driver.Op, len(claims))
	var answers sync.WaitGroup
	answers.Add(len(claims))
	for i, c := range claims {
		f.open(c)
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Follow: true}
	}
	f.sender.Go(ctx, ops, 0, func(i int, a batch.Answer) {
		results[i] = a.Result
		answers.Done()
	})
	answers.Wait()
	return results, nil
}

// Release implements [driver.Driver].
func (f *Facade) Release(ctx context.Context, c driver.Claim) error {
	err := f.do(ctx, driver.OpRelease, c).Err
	if err == nil || errors.Is(err, driver.ErrGone) && c.Token == 0 {
		f.forget(c)
	}
	return err
}

// Queue implements [driver.Driver].
func (f *Facade) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	r := f.do(ctx, driver.OpQueue, on(name))
	return r.Queue, r.Err
}

// Peek implements [driver.Peeker].
func (f *Facade) Peek(ctx context.Context, name string, n int) ([]driver.Entry, error) {
	r := f.sender.Do(ctx, driver.Op{Kind: driver.OpQueue, Claim: on(name), Most: max(n, 1)}, 0)
	return r.Queue[:min(n, len(r.Queue))], r.Err
}

// Wait implements [driver.Waiter]. About a claim of which nothing is known here it says "ask again".
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
	case e := <-in.mail.Word():
		if e.Err != nil {
			f.forget(c)
		}
		return e.Status, e.Err
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}

// Listen implements [driver.Listener].
func (f *Facade) Listen(_ context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	in := f.open(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	remove := in.moved.Add(moved)
	moved() // something may have happened before
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		remove()
	}, nil
}

// Watch implements [driver.Watcher].
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
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Propose implements [driver.Proposer].
func (f *Facade) Propose(ctx context.Context, c driver.Claim, token uint64) (driver.Status, error) {
	st, _, err := f.Vote(ctx, c, token)
	return st, err
}

// Vote implements [driver.Voter].
func (f *Facade) Vote(ctx context.Context, c driver.Claim, token uint64) (driver.Status, driver.Life, error) {
	r := f.sender.Do(ctx, driver.Op{Kind: driver.OpPropose, Claim: c, Token: token}, 0)
	return r.Status, r.Life, r.Err
}

// Life implements [driver.Living].
func (f *Facade) Life(ctx context.Context) (driver.Life, error) {
	r := f.do(ctx, driver.OpLife, driver.Claim{})
	return r.Life, r.Err
}

// Break implements [driver.Breaker].
func (f *Facade) Break(ctx context.Context, name, id string) error {
	return f.do(ctx, driver.OpBreak, driver.Claim{Name: name, ID: id}).Err
}

// Revoke implements [driver.Revoker].
func (f *Facade) Revoke(ctx context.Context, name, id string) error {
	return f.do(ctx, driver.OpRevoke, driver.Claim{Name: name, ID: id}).Err
}

// Value implements [driver.ValueStore].
func (f *Facade) Value(ctx context.Context, name string) (driver.Value, error) {
	r := f.do(ctx, driver.OpValue, on(name))
	return r.Value, r.Err
}

// SetValue implements [driver.ValueStore].
func (f *Facade) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return f.sender.Do(ctx, driver.Op{Kind: driver.OpSetValue, Claim: c, Value: v}, 0).Err
}

// Identity implements [driver.Identifier].
func (f *Facade) Identity() string { return f.Traits().Store }

// Check implements [driver.Checker].
func (f *Facade) Check(ctx context.Context) ([]driver.Finding, error) {
	c, ok := driver.As[driver.Checker](f.driver)
	if !ok {
		return nil, driver.Unsupported(f.Traits(), "checking the server")
	}
	return c.Check(ctx)
}

// List implements [driver.Lister].
func (f *Facade) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return driver.List(ctx, f.driver, prefix)
}
