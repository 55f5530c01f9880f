package drivertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// patience bounds what a test waits for. It is far above what anything takes, so that a slow machine fails nothing; and
// less than a claim lives that must outlive its test, or its end would pass for what is waited for.
func (e *env) patience() time.Duration { return e.longTTL() / 2 }

// longTTL is for claims that outlive their test, and those of e.short by far. What fails after their end is excused.
func (e *env) longTTL() time.Duration {
	ttl := max(e.h.longTTL(e.traits), 4*e.h.shortTTL(e.traits))
	return e.Long(ttl, e.traits.MaxTTL)
}

// shortTTL is for claims that end during the test, and long before its patience does.
func (e *env) shortTTL() time.Duration { return e.TTLUpTo(e.h.shortTTL(e.traits), e.patience()/4) }

// An env is what a row works with: two clients of one store and the name of a lock that nobody else uses.
type env struct {
	*pace.T
	h      Harness
	s      setting
	d      *Facade
	other  *Facade
	name   string
	traits driver.Traits

	// renewEvery bounds one Wait. Zero: Wait alone must bring the grant, so that a driver that forgets to push shows.
	renewEvery time.Duration

	clients int       // opened so far
	tried   *sync.Map // see trier
	first   *sync.Map // by ID, the client that requested the claim first
	lapses  time.Time // no short claim expires before
}

func newEnv(t *pace.T, h Harness, s setting) *env {
	if h.Virtual != nil {
		h.Open = h.Virtual()
		h.lend = h.Open
	}
	e := &env{T: t, h: h, s: s, name: freshName(), first: &sync.Map{}, tried: &sync.Map{}}
	e.d, e.other = e.open(), e.open()
	e.traits = e.d.Traits()
	if s.lossy {
		e.renewEvery = 100 * time.Millisecond
	}
	return e
}

// open returns another client of the store, over the connection that the row runs on.
func (e *env) open() *Facade {
	end := e.Step()
	d := NewFacade(e.h.lend(e.T))
	end()
	if e.s.tries {
		return NewFacade(trier{d.driver, e.tried})
	}
	if e.s.wrap == nil {
		return d
	}
	e.clients++
	return e.s.wrap(e.T, d, e.clients)
}

// with returns e for another lock.
func (e *env) with(name string) *env {
	other := *e
	other.name = name
	return &other
}

func freshName() string { return "drivertest-" + rand.Text()[:12] }
func freshID() string   { return rand.Text() }

// claim returns a claim that waits for the whole lock and outlives the test.
func (e *env) claim() driver.Claim { return e.units(1, 1) }

// units returns a claim of weight of limit units.
func (e *env) units(weight, limit int64) driver.Claim {
	return driver.Claim{
		Name: e.name, ID: freshID(), Weight: weight, Limit: limit, Queue: true,
		TTL: e.longTTL(), Owner: "drivertest",
	}
}

// reader and writer return claims that share the lock, and that do not.
func (e *env) reader() driver.Claim { return e.units(1, driver.All) }
func (e *env) writer() driver.Claim { return e.units(driver.All, driver.All) }

// try returns a claim that does not wait.
func (e *env) try() driver.Claim {
	c := e.claim()
	c.Queue = false
	return c
}

// short returns c with a TTL that ends during the test.
func (e *env) short(c driver.Claim) driver.Claim {
	c.TTL = e.shortTTL()
	if e.lapses.IsZero() {
		e.lapses = time.Now().Add(c.TTL)
	}
	return c
}

// renewal returns c as it is requested again after st.
func renewal(c driver.Claim, st driver.Status) driver.Claim {
	c.Token = st.Token
	return c
}

// answered reports whether nothing is left to ask: there was an answer, or the driver says that it cannot tell.
func answered(err error) bool { return driver.IsAnswer(err) || errors.Is(err, driver.ErrUnknown) }

// persist sends a request, again and again while there is no answer if the connection is bad. unsure tells whether an
// earlier attempt may have been applied.
func persist[T any](e *env, send func(context.Context) (T, error)) (v T, unsure bool, err error) {
	e.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), e.patience())
	defer cancel()
	for {
		end := e.Step()
		v, err = send(ctx)
		end()
		if !e.s.lossy && !e.h.Elects || answered(err) || ctx.Err() != nil {
			return v, unsure, err
		}
		unsure = true
	}
}

// insist is persist for what is answered with an error alone.
func (e *env) insist(do func(context.Context) error) (unsure bool, err error) {
	e.Helper()
	_, unsure, err = persist(e, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return unsure, err
}

// again asks for c as the client that did so first, and returns the answer.
func (e *env) again(c driver.Claim) (driver.Status, error) {
	e.Helper()
	return e.ask(e.requester(c), c)
}

// requester returns the client that requested c first. The other client is the one where none has.
func (e *env) requester(c driver.Claim) *Facade {
	d, _ := e.first.LoadOrStore(c.ID, e.other)
	return d.(*Facade)
}

// ask asks for c and returns the answer.
func (e *env) ask(d *Facade, c driver.Claim) (driver.Status, error) {
	e.Helper()
	e.first.LoadOrStore(c.ID, d)
	st, _, err := persist(e, func(ctx context.Context) (driver.Status, error) { return d.Request(ctx, c) })
	return st, err
}

// request asks for c and returns its status.
func (e *env) request(d *Facade, c driver.Claim) driver.Status {
	e.Helper()
	st, err := e.ask(d, c)
	if err != nil {
		e.Fatalf("Request(%s of %d): %v", c.ID, c.Weight, err)
	}
	return st
}

// acquire requests c, which must be granted at once.
func (e *env) acquire(d *Facade, c driver.Claim) driver.Status {
	e.Helper()
	st := e.request(d, c)
	if !st.Granted {
		e.Fatalf("the claim %s is not granted: %+v", c.ID, st)
	}
	return st
}

// acquireAll is acquire for all of a claim's TTL. After a stall a driver may be sure of less, so it is asked again.
func (e *env) acquireAll(c driver.Claim) (st driver.Status) {
	e.Helper()
	e.eventually("all of the TTL is granted", func() bool {
		st = e.acquire(e.d, c)
		return st.TTL >= c.TTL
	})
	return st
}

// enqueue requests c, which must wait.
func (e *env) enqueue(d *Facade, c driver.Claim) driver.Status {
	e.Helper()
	st := e.request(d, c)
	if st.Granted {
		e.Excuse(e.lapses)
		e.Fatalf("the claim %s is granted, while another should hold the lock: %+v", c.ID, st)
	}
	return st
}

// hold requests c for the first client, which must be granted at once, and returns both.
func (e *env) hold(c driver.Claim) (driver.Claim, driver.Status) {
	e.Helper()
	return c, e.acquire(e.d, c)
}

// contest returns the claim of a holder, and one that waits behind it for another client.
func (e *env) contest() (holder driver.Claim, held driver.Status, next driver.Claim, waiting driver.Status) {
	e.Helper()
	holder, held = e.hold(e.claim())
	next = e.claim()
	return holder, held, next, e.enqueue(e.other, next)
}

// inLine requests three claims, of the two clients in turn. The first must be granted at once; the others must wait.
func (e *env) inLine(first, second, third driver.Claim) (held, waiting2, waiting3 driver.Status) {
	e.Helper()
	return e.acquire(e.d, first), e.enqueue(e.other, second), e.enqueue(e.d, third)
}

// dropErr releases c and returns the answer.
func (e *env) dropErr(d *Facade, c driver.Claim, st driver.Status) error {
	e.Helper()
	_, err := e.insist(func(ctx context.Context) error { return d.Release(ctx, renewal(c, st)) })
	return err
}

// release releases c, which must be there.
func (e *env) release(d *Facade, c driver.Claim, st driver.Status) {
	e.Helper()
	if err := e.dropErr(d, c, st); err != nil {
		e.Fatalf("Release(%s): %v", c.ID, err)
	}
}

// handOver releases the first client's claim, and waits until the other client's is granted.
func (e *env) handOver(c driver.Claim, held driver.Status, next driver.Claim, waiting driver.Status) driver.Status {
	e.Helper()
	e.release(e.d, c, held)
	return e.await(e.other, next, waiting)
}

// isGone fails unless err says that the claim is gone.
func (e *env) isGone(err error, what string) {
	e.Helper()
	if !errors.Is(err, driver.ErrGone) {
		e.Errorf("%s: got error %v, want ErrGone", what, err)
	}
}

// queue returns the live claims.
func (e *env) queue() []driver.Entry {
	e.Helper()
	entries, _, err := persist(e, func(ctx context.Context) ([]driver.Entry, error) {
		return e.other.Queue(ctx, e.name)
	})
	if err != nil {
		e.Fatalf("Queue: %v", err)
	}
	return entries
}

// queued fails unless the queue holds these claims in this order. It asks nothing of a driver that cannot list.
func (e *env) queued(want ...driver.Claim) {
	e.Helper()
	if !e.traits.Listed {
		return
	}
	if got := claims(e.queue()); !sameIDs(got, want) {
		e.Errorf("the queue is %v, want %v", ids(got), ids(want))
	}
}

// remain waits until the queue holds no more than these claims, in this order, because the others expire. A quorum
// shows a dead waiter until the last server on which it came has outlived it.
func (e *env) remain(want ...driver.Claim) {
	e.Helper()
	if e.traits.Listed {
		e.eventually(fmt.Sprintf("what remains in the queue is %v", ids(want)), func() bool {
			return sameIDs(claims(e.queue()), want)
		})
	}
}

func sameIDs(a, b []driver.Claim) bool {
	return slices.EqualFunc(a, b, func(x, y driver.Claim) bool { return x.ID == y.ID })
}

func claims(entries []driver.Entry) []driver.Claim {
	cs := make([]driver.Claim, len(entries))
	for i, en := range entries {
		cs[i] = en.Claim
	}
	return cs
}

func ids(cs []driver.Claim) []string {
	list := make([]string, len(cs))
	for i, c := range cs {
		list[i] = c.ID
	}
	return list
}

// await waits until c is granted, as a caller does: by Wait, and by asking again when Wait says so.
func (e *env) await(d *Facade, c driver.Claim, st driver.Status) driver.Status {
	e.Helper()
	st, err := e.awaitErr(d, c, st)
	if err != nil {
		e.Fatalf("waiting for %s: %v", c.ID, err)
	}
	return st
}

func (e *env) awaitErr(d *Facade, c driver.Claim, st driver.Status) (driver.Status, error) {
	e.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), e.patience())
	defer cancel()
	for !st.Granted {
		push, err := e.waitOnce(ctx, d, renewal(c, st), st.Retry)
		switch {
		case errors.Is(err, driver.ErrGone), ctx.Err() != nil:
			return push, errors.Join(err, ctx.Err())
		case err == nil && push != driver.Status{}:
			st = push
		default:
			if st, err = e.ask(d, renewal(c, st)); err != nil {
				return st, err
			}
		}
	}
	return st, nil
}

// waitOnce is one Wait, which ends early when the claim should be requested again.
func (e *env) waitOnce(
	ctx context.Context, d *Facade, c driver.Claim, retry time.Duration,
) (driver.Status, error) {
	for _, limit := range []time.Duration{e.renewEvery, retry} {
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
	}
	return d.Wait(ctx, c)
}

// pass lets time go by.
func (e *env) pass(d time.Duration) {
	began := time.Now()
	driver.Sleep(context.Background(), d) // it cannot end early
	e.Stalled(time.Since(began) - d)
}

// renewer returns a client that may renew the claims of the first one: another, where a claim can outlive its client.
func (e *env) renewer() *Facade {
	if e.traits.Detach {
		return e.other
	}
	return e.d
}

// eventually asks until ok says yes. It is for what happens by the passing of time alone, of which nobody is told.
func (e *env) eventually(what string, ok func() bool) {
	e.Helper()
	for end := time.Now().Add(e.patience()); !ok(); e.pass(10 * time.Millisecond) {
		if time.Now().After(end) {
			e.Fatalf("it did not happen: %s", what)
		}
	}
}

// needs for rows.

// does returns the need for a kind of operation.
func does(kind driver.Kind) func(*Facade) bool {
	return func(d *Facade) bool { return d.Traits().Ops.Has(kind) }
}

// has is the need for an ability. A bad connection has each, and passes on those of the driver behind it.
func has[T any](d *Facade) bool {
	behind := d.driver
	if f, ok := behind.(*faulty); ok {
		behind = f.behind
	}
	_, ok := driver.As[T](behind)
	return ok
}

func weighted(d *Facade) bool { return d.Traits().Weighted }
func listed(d *Facade) bool   { return d.Traits().Listed }
func fifo(d *Facade) bool     { return d.Traits().FIFO }
func detaches(d *Facade) bool { return d.Traits().Detach }
func attached(d *Facade) bool { return !d.Traits().Detach }
func fenced(d *Facade) bool   { return d.Traits().Fenced }

func all(needs ...func(*Facade) bool) func(*Facade) bool {
	return func(d *Facade) bool {
		for _, need := range needs {
			if !need(d) {
				return false
			}
		}
		return true
	}
}
