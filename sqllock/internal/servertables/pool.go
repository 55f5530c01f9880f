package servertables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// A pool is the connections of a client for one kind of work. They are lanes, and what comes goes where one is free.
// What is about one lock goes through one lane at a time, in the order in which it came, and through the lane that has
// the wake locks for its claims. There is one lane more where somebody would have to wait, up to a bound, and one less
// when it was idle for long.
type pool struct {
	endpoint *endpoint
	most     int                     // lanes
	stay     int                     // lanes that are not closed when they are idle
	must     bool                    // nothing else will do where this pool has no lane
	instead  *pool                   // does the work where this pool has no connection to spare; or nil
	open     context.Context         // until close
	end      context.CancelCauseFunc // of open
	ended    sync.WaitGroup          // whoever has a lane, or opens one

	mu       sync.Mutex
	closed   bool
	lanes    []*lane
	bindings map[string]*binding // of the locks that somebody is at work on, or waits to be
	line     []*task             // who waits for any lane
	tasks    uint64              // so far
	opening  bool                // one more lane
	notYet   time.Time           // before that no connection is opened, where that can wait, because it failed
}

// An affinity says where in a pool work is to be done: with a name, in turn with what else is about that lock; with a
// lane, in that lane as long as it is there; empty, anywhere.
type affinity struct {
	name string
	lane *lane
}

// A binding says through which lane the work on a lock goes: nil while that is any.
type binding struct {
	name  string // empty where there is no order to keep
	lane  *lane
	tasks int // that wait or are under way
}

// A task is work that waits for its turn.
type task struct {
	binding *binding
	number  uint64     // older ones first
	ready   chan *lane // holds the lane when it is its turn
}

// errNoSpare says that there is no connection to spare, for work that can be done on one of another pool, or later.
var errNoSpare = errors.New("there is no connection to spare")

func newPool(e *endpoint, most int) *pool {
	p := &pool{endpoint: e, most: most, bindings: make(map[string]*binding)}
	p.open, p.end = context.WithCancelCause(context.Background())
	return p
}

// enter waits for a turn, which ends with leave.
func (p *pool) enter(ctx context.Context, at affinity) (*lane, *binding, error) {
	l, v, err := p.ask(at)
	if err != nil {
		return nil, nil, err
	}
	if l != nil {
		return l, v.binding, nil
	}
	select {
	case l := <-v.ready:
		return l, v.binding, nil
	case <-ctx.Done():
		err = replies.GaveUp(ctx)
	case <-p.open.Done():
		err = driver.ErrClosed
	}
	if l := p.giveUp(v); l != nil {
		p.leave(l, v.binding)
	}
	return nil, nil, err
}

// ask returns a task, and its lane if one is free. Otherwise the task stands in a line.
func (p *pool) ask(at affinity) (*lane, *task, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, driver.ErrClosed
	}
	v := &task{binding: p.binding(at), ready: make(chan *lane, 1)}
	l, err := p.free(v.binding)
	if err != nil {
		return nil, nil, err
	}
	if v.binding.name != "" {
		p.bindings[v.binding.name] = v.binding
	}
	v.binding.tasks++
	if l != nil {
		p.begin(l, v.binding)
		return l, v, nil
	}
	p.tasks++
	v.number = p.tasks
	if on := v.binding.lane; on != nil {
		on.line = append(on.line, v)
	} else {
		p.line = append(p.line, v)
		p.grow()
	}
	return nil, v, nil
}

// binding finds the binding of a lock. A lock without one is bound to the lane that has its wake locks, if there is
// one. A lane whose work was given up may be dead, so nothing is bound to that.
func (p *pool) binding(at affinity) *binding {
	h := p.bindings[at.name]
	if h == nil || at.lane != nil {
		h = &binding{name: at.name, lane: at.lane}
	}
	if at.lane != nil {
		h.name = ""
	}
	if h.lane == nil && h.name != "" {
		h.lane = p.laneOf(h.name)
	}
	h.loosen()
	return h
}

// loosen frees a lock from a lane that may be dead, or is gone.
func (h *binding) loosen() {
	if h.lane != nil && (h.lane.given || h.lane.gone) {
		h.lane = nil
	}
}

// laneOf is the lane that has wake locks for claims of a lock, or nil.
func (p *pool) laneOf(name string) *lane {
	for _, l := range p.lanes {
		if l.wakeLocks.areFor(name) {
			return l
		}
	}
	return nil
}

// free returns a lane for a task that need not wait. The first one is made where there is none.
func (p *pool) free(h *binding) (*lane, error) {
	if h.lane != nil {
		if h.lane.busy {
			return nil, nil
		}
		return h.lane, nil
	}
	for _, l := range p.lanes {
		if !l.busy {
			return l, nil
		}
	}
	if len(p.lanes) > 0 || p.opening {
		return nil, nil
	}
	if !p.endpoint.take(p.must) {
		return nil, errNoSpare
	}
	return p.add(nil), nil
}

func (p *pool) add(c *conn) *lane {
	l := &lane{pool: p, conn: c}
	p.lanes = append(p.lanes, l)
	return l
}

func (p *pool) begin(l *lane, h *binding) {
	l.busy, h.lane = true, l
	l.turns++
	p.ended.Add(1)
}

// leave ends a turn, and gives it to who has waited longest.
func (p *pool) leave(l *lane, h *binding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.ended.Done()
	l.busy, l.given = false, false
	p.part(h)
	switch {
	case p.closed:
	case len(p.lanes) > p.most && !l.hasWakeLocks(), l.conn == nil && len(p.lanes) > 1:
		p.remove(l)
	default:
		p.goOn(l)
	}
}

// goOn lets the next one have a lane that is free.
func (p *pool) goOn(l *lane) {
	if v := p.next(l); v != nil {
		p.begin(l, v.binding)
		v.ready <- l
		return
	}
	l.retireLater()
}

// part ends a task, and the binding of its lock with the last one.
func (p *pool) part(h *binding) {
	if h.tasks--; h.tasks == 0 && p.bindings[h.name] == h {
		delete(p.bindings, h.name)
	}
}

// next takes out of the lines who has waited longest for this lane. Those for whom another lane is right
// go to that one's line.
func (p *pool) next(l *lane) *task {
	for len(p.line) > 0 {
		v := p.line[0]
		v.binding.loosen()
		own := v.binding.lane == nil || v.binding.lane == l
		if own && len(l.line) > 0 && l.line[0].number < v.number {
			break
		}
		p.line = p.line[1:]
		if own {
			return v
		}
		v.binding.lane.join(v)
	}
	if len(l.line) == 0 {
		return nil
	}
	v := l.line[0]
	l.line = l.line[1:]
	return v
}

// giveUp takes a task out of its line. If it has got its turn meanwhile, that lane is returned.
func (p *pool) giveUp(v *task) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case l := <-v.ready:
		return l
	default:
	}
	is := func(other *task) bool { return other == v }
	p.line = slices.DeleteFunc(p.line, is)
	if l := v.binding.lane; l != nil {
		l.line = slices.DeleteFunc(l.line, is)
	}
	p.part(v.binding)
	return nil
}

// giveAway notes that nobody waits any more for what is done in a turn, which may be as dead as it is slow: those who
// wait for this lane may have any other, and one more is opened for them.
func (p *pool) giveAway(l *lane, turn uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.busy && l.turns == turn && !l.given {
		l.given = true
		p.spread(l)
	}
}

// spread lets those who wait for a lane have any other.
func (p *pool) spread(l *lane) {
	for _, v := range l.line {
		v.binding.lane = nil
		p.line = append(p.line, v)
	}
	l.line = nil
	slices.SortFunc(p.line, func(a, b *task) int { return cmp.Compare(a.number, b.number) })
	for _, other := range p.lanes {
		if !other.busy && len(p.line) > 0 {
			p.goOn(other)
		}
	}
	if len(p.line) > 0 {
		p.grow()
	}
}

// grow opens one more lane in the background, unless there are enough that work.
func (p *pool) grow() {
	working := 0
	for _, l := range p.lanes {
		if !l.given {
			working++
		}
	}
	if working >= p.most || p.opening || p.closed || time.Now().Before(p.notYet) || !p.endpoint.take(false) {
		return
	}
	p.opening = true
	p.ended.Go(p.openLane)
}

// pauseAfterFailure is for how long no connection is opened after that has failed.
const pauseAfterFailure = time.Second

func (p *pool) openLane() {
	ctx, cancel := context.WithTimeout(p.open, laneTime)
	defer cancel()
	c, err := p.connect(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opening = false
	switch {
	case err != nil:
		p.notYet = time.Now().Add(pauseAfterFailure)
		p.endpoint.give()
	case p.closed:
		c.close()
		p.endpoint.give()
	default:
		p.goOn(p.add(c))
		if len(p.line) > 0 {
			p.grow()
		}
	}
}

// connect opens a connection to a database whose tables are those of this program.
func (p *pool) connect(ctx context.Context) (*conn, error) {
	c, err := openConn(ctx, p.endpoint)
	if err != nil {
		return nil, err
	}
	err = finish(ctx, func(ctx context.Context) error { return p.endpoint.dialect.checkVersion(ctx, c.Conn) })
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// connectFor opens the connection of a lane that has none. Where another pool will do, it is not tried again soon after
// it has failed: each time would take as long as a whole attempt may.
func (p *pool) connectFor(ctx context.Context) (*conn, error) {
	if p.must {
		return p.connect(ctx)
	}
	if p.hasJustFailed() {
		return nil, errNoSpare
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	c, err := p.connect(ctx)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notYet = time.Now().Add(pauseAfterFailure)
		return nil, fmt.Errorf("%w: %w", errNoSpare, err)
	}
	return c, nil
}

func (p *pool) hasJustFailed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.notYet)
}

// retire closes a lane that was idle for long. While another one is being opened, which may fail, it stays: whoever
// comes meanwhile stands in line.
func (p *pool) retire(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed || l.busy || l.gone || len(p.lanes) <= p.stay:
	case l.hasWakeLocks(), p.opening:
		l.timer.Reset(idleTime)
	default:
		p.remove(l)
	}
}

// remove closes a lane that is free.
func (p *pool) remove(l *lane) {
	l.gone = true
	if l.work != nil {
		close(l.work)
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(other *lane) bool { return other == l })
	l.drop()
	p.endpoint.give()
	p.spread(l)
}

// refuse lets nobody begin any more, and what is under way end soon.
func (p *pool) refuse() {
	p.mu.Lock()
	p.closed = true // first: nobody begins after that, so what is waited for does not grow
	p.mu.Unlock()
	p.end(driver.ErrClosed)
}

// close waits for whoever has a lane, and closes all. refuse has been called.
func (p *pool) close() {
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.lanes) > 0 {
		p.remove(p.lanes[0])
	}
}
