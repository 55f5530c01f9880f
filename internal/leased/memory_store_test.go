package leased_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

var errLost = errors.New("the answer was lost")

// faults are what goes wrong between clients and a world, from 0 to 1 where they are chances.
type faults struct {
	latency    time.Duration // each way takes up to so long
	loseCall   float64       // steps are not applied, and nobody knows
	loseAnswer float64       // steps are applied, and nobody knows
	late       float64       // steps are applied later, and nobody knows
	lateBy     time.Duration // at most
	watchDelay time.Duration // events are told up to so late
	apart      bool          // the steps of a batch go apart, in any order
	gaps       float64       // a watch has missed an event, and begins anew
}

// A memStore is a client of a world.
type memStore struct {
	w       *world
	life    context.Context
	end     context.CancelFunc
	running leased.Group

	mu       sync.Mutex
	fate     func(leased.Step) fate // of each step; nil: faults decide
	between  func()                 // happens between the next step and its answer; nil: nothing does
	closed   bool
	tellAll  func(leased.WatchEvent)
	watches  map[leased.Spot]*watch
	lane     *lane // of all watches, where events keep their order
	sessions []*memSession
	applies  int
}

// A fate is what becomes of a step.
type fate uint8

const (
	answered fate = iota
	unheard       // it is applied, and nobody hears of it
	lost          // it is not applied, and nobody knows
)

// A watch is of one spot.
type watch struct {
	spot leased.Spot
	lane *lane
	on   bool // the server knows of it
}

// A lane tells events one after the other.
type lane struct {
	store   *memStore
	queue   []laneEvent
	running bool
}

type laneEvent struct {
	of *watch
	leased.WatchEvent
}

func (w *world) client() *memStore {
	s := &memStore{w: w, watches: make(map[leased.Spot]*watch)}
	s.lane = &lane{store: s}
	s.life, s.end = context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients = append(w.clients, s)
	return s
}

func (s *memStore) Traits() driver.Traits {
	return driver.Traits{
		Backend: "world", MinTTL: 100 * time.Millisecond, Fenced: true, FIFO: true, ServerClock: true,
		Weighted: true, Listed: true, Detach: s.w.moves, Alone: 2, MaxInFlight: 2,
	}
}

func (s *memStore) Facts() leased.Facts {
	return leased.Facts{Ordered: s.w.ordered, Partial: s.w.partial}
}

func (s *memStore) Term(ttl time.Duration) time.Duration { return (ttl + coarse - 1).Truncate(coarse) }

// coarse is how far apart the TTLs of sessions are.
const coarse = 10 * time.Millisecond

// chance and some draw.
func (w *world) chance(rate float64) bool {
	if rate == 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Float64() < rate
}

func (w *world) some(most time.Duration) time.Duration {
	if most == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.random.Int64N(int64(most)))
}

// travel lets a message take its time.
func (w *world) travel(ctx context.Context, most time.Duration) error {
	if most == 0 {
		return ctx.Err()
	}
	return driver.Sleep(ctx, w.some(most))
}

// call has something done at the server, once at most.
func (s *memStore) call(ctx context.Context, do func()) error {
	w, f := s.w, s.w.faults
	if err := w.travel(ctx, f.latency); err != nil {
		return err
	}
	switch {
	case w.chance(f.loseCall):
		return errLost
	case w.chance(f.late):
		time.AfterFunc(w.some(f.lateBy), do)
		return errLost
	}
	do()
	if w.chance(f.loseAnswer) {
		return errLost
	}
	return w.travel(ctx, f.latency)
}

func (s *memStore) Apply(ctx context.Context, steps []leased.Step, done func(int, leased.Outcome)) {
	s.mu.Lock()
	closed := s.closed
	s.applies++
	s.mu.Unlock()
	if closed {
		for i := range steps {
			done(i, leased.Outcome{Err: driver.ErrClosed})
		}
		return
	}
	if !s.w.faults.apart {
		s.applyAll(ctx, steps, 0, done)
		return
	}
	var all sync.WaitGroup
	for _, i := range rand.Perm(len(steps)) {
		all.Go(func() { s.applyAll(ctx, steps[i:i+1], i, done) })
	}
	all.Wait()
}

func (s *memStore) applyAll(ctx context.Context, steps []leased.Step, first int, done func(int, leased.Outcome)) {
	sent := time.Now()
	outcomes, fates := make([]leased.Outcome, len(steps)), make([]fate, len(steps))
	s.mu.Lock()
	fateOf, between := s.fate, s.between
	s.between = nil
	s.mu.Unlock()
	for i, step := range steps {
		if fateOf != nil {
			fates[i] = fateOf(step)
		}
	}
	err := s.call(ctx, func() {
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		for i, step := range steps {
			if fates[i] != lost {
				outcomes[i] = s.w.apply(step)
			}
		}
	})
	if between != nil {
		between()
	}
	for i, step := range steps {
		o := leased.Outcome{Err: cmp.Or(err, errLost)}
		if err == nil && fates[i] == answered {
			o = outcomes[i]
		}
		if own, ok := step.Session.(*memSession); ok && step.Live > 0 {
			o.Err = own.answered(sent, o.Err)
		}
		done(first+i, o)
	}
}

// suffer gives each step its fate.
func (s *memStore) suffer(fateOf func(leased.Step) fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fate = fateOf
}

// A memSession is a session as its client sees it.
type memSession struct {
	store *memStore
	id    int64
	ttl   time.Duration // of claims
	term  time.Duration // of the session
	own   bool

	mu    sync.Mutex
	lost  bool
	until time.Time
	used  time.Time
	taken map[string]bool
	free  []string
	made  int
	timer *time.Timer
}

func (s *memStore) Open(ctx context.Context, ttl time.Duration, own bool) (leased.Session, error) {
	sent := time.Now()
	term := ttl
	if !own {
		ttl = s.Term(ttl)
		term = ttl + min(ttl/4, time.Second) + 20*time.Millisecond
	}
	var at *served
	if err := s.call(ctx, func() { at = s.w.grant(term) }); err != nil {
		return nil, err
	}
	m := &memSession{
		store: s, id: at.id, ttl: ttl, term: term, own: own, until: sent.Add(term), used: sent,
		taken: make(map[string]bool),
	}
	if !own {
		m.timer = time.AfterFunc(term/4, func() { s.running.Go(m.tend) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, m)
	if s.closed {
		m.stop()
	}
	return m, nil
}

func (m *memSession) ID() int64 { return m.id }

func (m *memSession) IsAlive() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.lost
}

// Take takes a place. Where sessions end with their client a place is never used again, as in ZooKeeper.
func (m *memSession) Take(driver.Claim) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost || m.store.w.room > 0 && len(m.taken) >= m.store.w.room {
		return "", false
	}
	m.used = time.Now()
	var place string
	if last := len(m.free) - 1; last >= 0 && !m.store.w.ordered {
		place, m.free = m.free[last], m.free[:last]
	} else {
		place = fmt.Sprintf("%d/%d", m.id, m.made)
		m.made++
	}
	m.taken[place] = true
	return place, true
}

func (m *memSession) Give(place string, clean bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.taken[place] {
		m.store.w.mu.Lock()
		defer m.store.w.mu.Unlock()
		m.store.w.broken = append(m.store.w.broken, "a place was given back twice: "+place)
		return
	}
	delete(m.taken, place)
	if clean {
		m.free = append(m.free, place)
	}
}

func (m *memSession) Serves(c driver.Claim) (time.Duration, bool) {
	switch {
	case m.own:
		return c.TTL, c.Detached && c.TTL == m.ttl
	case !m.store.w.moves:
		return c.TTL, c.TTL <= m.ttl
	default:
		return c.TTL, !c.Detached && m.store.Term(c.TTL) == m.ttl
	}
}

func (m *memSession) Stuck(driver.Claim) {}

// answered notes that a step was answered which kept the session alive.
func (m *memSession) answered(sent time.Time, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case errors.Is(err, leased.ErrSessionLost):
		m.store.running.Go(m.lose)
	case err == nil && m.lost:
		return errors.New("the session was given up meanwhile") // and the claim with it
	case err == nil:
		m.until = sent.Add(m.term)
	}
	return err
}

// lose gives a session up.
func (m *memSession) lose() {
	m.mu.Lock()
	before := m.lost
	m.lost = true
	m.mu.Unlock()
	if before {
		return
	}
	if m.timer != nil {
		m.timer.Stop()
	}
	m.store.mu.Lock()
	tell := m.store.tellAll
	m.store.mu.Unlock()
	tell(leased.WatchEvent{Lost: m})
	m.store.w.endSession(m.id)
}

// tend keeps the session alive while claims have places in it, and gives it up when it may have ended.
func (m *memSession) tend() {
	m.mu.Lock()
	now := time.Now()
	over := !now.Before(m.until)
	idle := len(m.taken) == 0 && now.After(m.used.Add(2*m.term))
	m.lost = m.lost || idle && !over
	lost := m.lost
	m.mu.Unlock()
	if over {
		m.lose()
	}
	if over || lost {
		return
	}
	sent := time.Now()
	ctx, cancel := context.WithTimeout(m.store.life, m.term/4)
	defer cancel()
	alive := false
	err := m.store.call(ctx, func() {
		m.store.w.mu.Lock()
		defer m.store.w.mu.Unlock()
		alive = m.store.w.extend(m.id)
	})
	if err == nil && !alive {
		m.lose()
		return
	}
	m.answered(sent, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.lost {
		m.timer.Reset(m.term / 8)
	}
}

// stop ends the session with its client, or lets it end by itself.
func (m *memSession) stop() {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.mu.Lock()
	m.lost = true
	m.mu.Unlock()
	if !m.own && !m.store.w.moves {
		m.store.w.endSession(m.id)
	}
}

func (s *memStore) Close() error {
	s.w.mu.Lock()
	s.w.clients = slices.DeleteFunc(s.w.clients, func(c *memStore) bool { return c == s })
	s.w.mu.Unlock()
	s.mu.Lock()
	s.closed = true
	sessions := s.sessions
	clear(s.watches)
	s.mu.Unlock()
	s.end()
	for _, m := range sessions {
		m.stop()
	}
	s.running.Wait()
	return nil
}

func (s *memStore) Subscribe(tell func(leased.WatchEvent)) { s.tellAll = tell }

func (s *memStore) Watch(at leased.Spot, _ int64) {
	w := &watch{spot: at, lane: s.lane}
	if !s.w.ordered {
		w.lane = &lane{store: s}
	}
	s.mu.Lock()
	s.watches[at] = w
	s.mu.Unlock()
	time.AfterFunc(s.w.some(s.w.faults.latency), func() { s.begin(w) })
}

// begin has the server watch. Where places are used once, it tells at once what has happened to one.
func (s *memStore) begin(w *watch) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	w.on = true
	e := leased.WatchEvent{Kind: leased.Began, Revision: s.w.rev + 1}
	if s.w.ordered && w.spot.Place != "" {
		e = leased.WatchEvent{Kind: leased.Ended, Seat: leased.Seat{Place: w.spot.Place}, Revision: s.w.rev}
		for _, seat := range s.w.queues[w.spot.Name] {
			if seat.Place == w.spot.Place {
				e = leased.WatchEvent{Kind: leased.Began, Revision: int64(seat.Token)}
				if seat.Revoked || w.spot.Turn && seat.Fits != nil {
					e = leased.WatchEvent{Kind: leased.Changed, Seat: *seat, Revision: s.w.rev}
				}
			}
		}
	}
	w.push(e)
}

func (s *memStore) Unwatch(at leased.Spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches, at)
}

// notify passes on what has happened. The world's lock is held.
func (s *memStore) notify(name string, e leased.WatchEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, w := range s.watches {
		if at.Name != name || at.Place != "" && at.Place != e.Seat.Place || !w.on {
			continue
		}
		if f := s.w.faults.gaps; f > 0 && s.w.random.Float64() < f {
			w.push(leased.WatchEvent{Kind: leased.Began, Revision: e.Revision + 1})
			continue
		}
		w.push(e)
	}
}

// push has an event told. The store's lock is held.
func (w *watch) push(e leased.WatchEvent) {
	e.Spot = w.spot
	l := w.lane
	l.queue = append(l.queue, laneEvent{w, e})
	if !l.running {
		l.running = true
		l.store.running.Go(l.run)
	}
}

func (l *lane) run() {
	s := l.store
	for {
		driver.Sleep(s.life, s.w.some(s.w.faults.watchDelay)) // which ends early with the store
		s.mu.Lock()
		if len(l.queue) == 0 {
			l.running = false
			s.mu.Unlock()
			return
		}
		e := l.queue[0]
		l.queue = l.queue[1:]
		wanted := s.watches[e.of.spot] == e.of
		s.mu.Unlock()
		if wanted {
			s.tellAll(e.WatchEvent)
		}
	}
}

func (s *memStore) Names(_ context.Context, prefix string) iter.Seq2[string, error] {
	s.w.mu.Lock()
	var names []string
	for name := range s.w.queues {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	s.w.mu.Unlock()
	return func(yield func(string, error) bool) {
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}
