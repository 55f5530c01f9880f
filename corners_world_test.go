package holdfast

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// A world is one run of a plan: clients of one store, who visits their locks, and what disturbs them.
type world struct {
	plan    plan
	store   *memlock.Driver
	history *history
	judge   *judge
	clock   sync.RWMutex // of the store; it is written while the clock jumps
	over    chan struct{}
	wire    []*wire

	mu      sync.Mutex
	clients []*Client // in use, by number
	all     []*Client
	closed  map[*Client]time.Duration // since when
	calls   map[string]time.Duration  // under way, and since when
	visits  sync.WaitGroup
}

// run plays a plan and returns what happened.
func (p plan) run(t *testing.T) (h *history) {
	defer func() {
		if r := recover(); r != nil && h.failed() { // what is left of it hangs
			h.note("run", "%v", r)
		} else if r != nil {
			panic(r)
		}
	}()
	defer suspended.Store(0)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(p)
		h = w.history
		defer close(w.wire[0].dead)
		defer h.end()
		w.play()
		w.finish()
	})
	return h
}

func newWorld(p plan) *world {
	w := &world{
		plan: p, store: memlock.New(), history: &history{began: time.Now()}, over: make(chan struct{}),
		clients: make([]*Client, p.clients),
		calls:   make(map[string]time.Duration), closed: make(map[*Client]time.Duration),
	}
	w.judge = newJudge(w)
	dead := make(chan struct{})
	for i := range p.clients {
		w.wire = append(w.wire, &wire{world: w, number: i, store: w.store.Client(), dead: dead})
		w.replace(i)
	}
	return w
}

// replace puts a new client in place of one, which it returns.
func (w *world) replace(number int) (old *Client) {
	logger := slog.New(&handler{world: w, number: number})
	c := New(w.wire[number], WithTTL(w.plan.ttl), WithLogger(logger), WithObserver(&observer{w, number}))
	w.mu.Lock()
	defer w.mu.Unlock()
	old, w.clients[number] = w.clients[number], c
	w.all = append(w.all, c)
	return old
}

func (w *world) client(number int) *Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clients[number]
}

// server lets the store answer, while its clock does not jump.
func (w *world) server(answer func()) {
	w.clock.RLock()
	defer w.clock.RUnlock()
	answer()
}

// ask has the store do an operation for nobody.
func (w *world) ask(op driver.Op) (r driver.Result) {
	w.store.Do(context.Background(), []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// queue are the claims on a lock.
func (w *world) queue(name string) []driver.Entry {
	return w.ask(driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}}).Queue
}

// play lets all happen that is planned, and waits until it has.
func (w *world) play() {
	for i, v := range w.plan.visits {
		w.visits.Go(func() { w.visit(fmt.Sprintf("visitor %d", i), v) })
	}
	for i, a := range w.plan.acts {
		w.visits.Go(func() { w.act(fmt.Sprintf("act %d", i), a) })
	}
	sampling := make(chan struct{})
	go w.sample(sampling)
	time.Sleep(w.plan.length())
	w.history.note("run", "nothing new happens from here on")
	close(w.over)
	w.await()
	close(sampling)
}

// sample looks at all leases now and then.
func (w *world) sample(until <-chan struct{}) {
	for {
		select {
		case <-time.After(w.plan.ttl / 7):
			w.judge.lookAround()
		case <-until:
			return
		}
	}
}

// await waits until all visits and acts are over: who waits without a bound must have had its turn by then.
func (w *world) await() {
	done := make(chan struct{})
	go func() {
		w.visits.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(100 * w.plan.ttl):
		w.mu.Lock()
		defer w.mu.Unlock()
		for what, since := range w.calls {
			w.history.fault("%s has not returned since %v", what, since)
		}
	}
}

// finish judges what is left when all is over.
func (w *world) finish() {
	if w.history.failed() {
		return
	}
	time.Sleep(3 * w.plan.ttl) // locks that were left alone, or have a minimum hold, become free
	for i, c := range w.clients {
		for _, lock := range slices.Sorted(maps.Keys(wards)) {
			w.tryOut(fmt.Sprintf("client %d", i), c, lock)
		}
	}
	w.closeAll()
	time.Sleep(2 * w.plan.ttl)
	w.nothingIsLeft()
}

// tryOut makes sure that a lock can be had again.
func (w *world) tryOut(who string, c *Client, lock string) {
	l := c.lock(wards[lock].name, nil)
	w.do(call{who: who, what: "lock the free " + lock, limit: w.plan.ttl}, func(ctx context.Context) error {
		lease, err := l.acquire(ctx, wards[lock].ask, true)
		if err == nil {
			err = lease.Release(ctx)
		}
		if err != nil {
			w.history.fault("%s: the free %s cannot be had: %v", who, lock, err)
		}
		return err
	})
}

func (w *world) closeAll() {
	for i, c := range w.all {
		if err := w.do(call{who: "run", what: fmt.Sprintf("close %d", i), limit: w.plan.ttl}, c.Close); err != nil {
			w.history.fault("close: %v", err)
		}
	}
}

// nothingIsLeft judges whether claims or goroutines are.
func (w *world) nothingIsLeft() {
	synctest.Wait()
	for _, name := range wardNames() {
		if left := w.queue(name); len(left) > 0 {
			w.history.fault("claims are left: %+v", left)
		}
	}
	if left := bubbled(); len(left) > 0 {
		w.history.fault("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

// bubbled returns the stacks of the other goroutines in the caller's bubble, but for those that make it.
func bubbled() (stacks []string) {
	buffer := make([]byte, 1<<20)
	all := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	_, bubble, _ := strings.Cut(firstLine(all[0]), "synctest bubble ")
	for _, stack := range all[1:] {
		same := strings.HasSuffix(firstLine(stack), "synctest bubble "+bubble)
		if same && !strings.Contains(stack, "synctest.Test(") &&
			!strings.Contains(stack, "synctest.testingSynctestTest(") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// A call is one that must return by its bound.
type call struct {
	who, what string
	base      context.Context // Background where it is nil
	limit     time.Duration   // of its context; zero: none
	bound     time.Duration   // beside that limit; zero: none
}

// do makes a call.
func (w *world) do(c call, f func(context.Context) error) error {
	ctx, stalls, cancel := c.context()
	defer cancel()
	begin := w.begin(c)
	err := f(ctx)
	took := w.history.since() - begin
	w.end(c, "... %s: %v, after %v", c.what, outcomeOf(err), took)
	if c.limit > 0 {
		c.bound = min(cmp.Or(c.bound, c.limit), c.limit)
	}
	if took -= stalls.all(); c.bound > 0 && took > c.bound+promptly {
		w.history.fault("%s: %s took %v, its bound is %v", c.who, c.what, took, c.bound)
	}
	return err
}

// promptly is how long what needs no answer may take.
const promptly = 10 * time.Millisecond

func (c call) context() (context.Context, *stalls, context.CancelFunc) {
	base, s := c.base, new(stalls)
	if base == nil {
		base = context.Background()
	}
	ctx := context.WithValue(base, stalls{}, s)
	if c.limit == 0 {
		return ctx, s, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	return ctx, s, cancel
}

func (w *world) begin(c call) time.Duration {
	w.history.note(c.who, "%s ...", c.what)
	w.mu.Lock()
	defer w.mu.Unlock()
	begin := w.history.since()
	w.calls[c.who+": "+c.what] = begin
	return begin
}

func (w *world) end(c call, format string, args ...any) {
	w.history.note(c.who, format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, c.who+": "+c.what)
}

func outcomeOf(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

// act does what others do.
func (w *world) act(who string, a act) {
	time.Sleep(a.at)
	c, name := w.client(a.client), wards[a.lock].name
	do := call{who: who, what: a.what + " " + name, limit: a.lasts}
	switch a.what {
	case "close":
		w.close(who, a)
	case "suspend":
		w.suspend(a.lasts)
	case "revoke":
		w.do(do, func(ctx context.Context) error { return c.Revoke(ctx, name) })
	default:
		if id := w.victim(name, a.what == "break holder"); id != "" {
			w.do(do, func(ctx context.Context) error { return c.Break(ctx, name, id) })
		}
	}
	w.judge.lookAround()
}

// leaveClosed notes that a lease ends with its client, if that is closed.
func (w *world) leaveClosed(t *tenure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since, ok := w.closed[t.client]; ok {
		t.leave(since)
		t.unsure(true)
	}
}

// victim is the ID of a claim that holds, or waits, if there is one.
func (w *world) victim(name string, holds bool) string {
	for _, e := range w.queue(name) {
		if e.Granted == holds {
			return e.ID
		}
	}
	return ""
}

func (w *world) close(who string, a act) {
	c := w.replace(a.client)
	w.mu.Lock()
	w.closed[c] = w.history.since()
	w.mu.Unlock()
	for _, t := range w.judge.all() {
		w.leaveClosed(t)
	}
	err := w.do(call{who: who, what: fmt.Sprintf("close client %d", a.client), limit: a.lasts}, c.Close)
	for _, t := range w.judge.all() {
		if t.client == c {
			t.unsure(err != nil)
		}
	}
}

// suspend lets time pass for the store of which no timer of the clients' takes note: their machine sleeps.
func (w *world) suspend(d time.Duration) {
	w.clock.Lock()
	defer w.clock.Unlock()
	w.history.note("run", "the clients' machine has slept for %v", d)
	w.judge.jumped(w.history.since())
	suspended.Add(int64(d))
	for _, name := range wardNames() {
		for _, e := range w.queue(name) {
			w.age(e, d)
		}
	}
}

// age makes a claim live for less.
func (w *world) age(e driver.Entry, by time.Duration) {
	c := e.Claim
	if c.TTL = e.Left - by; c.TTL > 0 {
		w.ask(driver.Op{Kind: driver.OpRequest, Claim: c})
	} else {
		w.ask(driver.Op{Kind: driver.OpBreak, Claim: c}) // which ends it as its TTL does
	}
}

// An observer blocks while its stalls last.
type observer struct {
	world  *world
	number int
}

func (o *observer) Observe(ctx context.Context, _ Event) {
	began := o.world.history.since()
	o.world.stall(o.number, "observer")
	if s, ok := ctx.Value(stalls{}).(*stalls); ok {
		s.time.Add(int64(o.world.history.since() - began))
	}
}

// stalls are for how long a call was kept by an observer that it called itself.
type stalls struct{ time atomic.Int64 }

func (s *stalls) all() time.Duration { return time.Duration(s.time.Load()) }

// A handler of a logger does too, and writes history.
type handler struct {
	world  *world
	number int
}

func (h *handler) Enabled(context.Context, slog.Level) bool { return true }
func (h *handler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *handler) WithGroup(string) slog.Handler            { return h }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	h.world.history.note(fmt.Sprintf("client %d", h.number), "%s", text)
	h.world.stall(h.number, "logger")
	return nil
}

func (w *world) stall(number int, who string) {
	for _, s := range w.plan.stalls {
		since := w.history.since()
		if s.client == number && s.who == who && since >= s.from && since < s.from+s.lasts {
			w.wire[0].pause(s.from + s.lasts - since)
		}
	}
}
