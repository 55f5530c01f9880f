package leased_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A kind of world is what a real engine is like.
type kind struct {
	moves   bool // seats move from session to session, as in etcd; otherwise sessions end with their client
	ordered bool // events of different spots keep their order, as in ZooKeeper
	partial bool // few of those ahead may be read
	lean    bool // no tombstone for a claim of which no late copy can come
	room    int  // claims in one session; zero: any number
}

// A world is a server with all its clients' sessions, in memory.
type world struct {
	kind
	faults faults

	mu       sync.Mutex
	random   *rand.Rand
	rev      int64
	queues   map[string][]*leased.Seat // oldest first
	ends     map[claimKey]*end
	values   map[string]*value
	sessions map[int64]*served
	clients  []*memStore
	broken   []string // what no engine may ask for
}

type claimKey struct{ name, id string }

// An end is what stays of a claim. One may be there while the claim is.
type end struct {
	leased.Tombstone
	until time.Time
}

type value struct {
	driver.Value
	version int64
	until   time.Time // of one that was removed; zero: it stays
}

// A served session is one that the server knows.
type served struct {
	id    int64
	ttl   time.Duration
	timer *time.Timer
	until time.Time
}

func newWorld(k kind, f faults, r *rand.Rand) *world {
	return &world{
		kind: k, faults: f, random: r, rev: time.Now().UnixMicro(), queues: make(map[string][]*leased.Seat),
		ends: make(map[claimKey]*end), values: make(map[string]*value), sessions: make(map[int64]*served),
	}
}

// grant begins a session.
func (w *world) grant(ttl time.Duration) *served {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rev++
	s := &served{id: w.rev, ttl: ttl, until: time.Now().Add(ttl)}
	w.sessions[s.id] = s
	s.timer = time.AfterFunc(ttl, func() { w.endSession(s.id) })
	return s
}

// extend keeps a session alive. w.mu is held.
func (w *world) extend(id int64) bool {
	s := w.sessions[id]
	if s == nil {
		return false
	}
	s.until = time.Now().Add(s.ttl)
	s.timer.Reset(s.ttl)
	return true
}

// endSession ends a session and all claims that live by it.
func (w *world) endSession(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessions[id]
	if s == nil {
		return
	}
	s.timer.Stop()
	delete(w.sessions, id)
	w.rev++
	for name, queue := range w.queues {
		for _, seat := range slices.Clone(queue) {
			if seat.Session == id {
				w.take(name, seat)
			}
		}
	}
}

// take takes a seat out, and tells who watches.
func (w *world) take(name string, seat *leased.Seat) {
	w.queues[name] = slices.DeleteFunc(w.queues[name], func(s *leased.Seat) bool { return s == seat })
	if len(w.queues[name]) == 0 {
		delete(w.queues, name)
	}
	w.tell(name, leased.WatchEvent{Kind: leased.Ended, Seat: leased.Seat{Place: seat.Place}, Revision: w.rev})
}

// tell tells who watches a queue, or a seat in it.
func (w *world) tell(name string, e leased.WatchEvent) {
	for _, c := range w.clients {
		c.notify(name, e)
	}
}

// find returns a claim in the queue.
func (w *world) find(s leased.Step) *leased.Seat {
	for _, seat := range w.queues[s.Name] {
		anywhere := s.Place == "" || s.Act == leased.Enter || s.Act == leased.Leave
		if seat.ID == s.ID && (anywhere || s.Place == seat.Place) {
			return seat
		}
	}
	return nil
}

// ended returns what is remembered of a claim.
func (w *world) ended(s leased.Step) *end {
	e := w.ends[claimKey{s.Name, s.ID}]
	if e == nil || time.Now().After(e.until) {
		return nil
	}
	return e
}

// remember keeps an end for a time, or longer if it was kept longer before.
func (w *world) remember(s leased.Step, t leased.Tombstone, keep time.Duration) *leased.Tombstone {
	until := time.Now().Add(keep + leased.TombstoneGrace)
	if before := w.ended(s); before != nil && before.until.After(until) {
		until = before.until
	}
	w.ends[claimKey{s.Name, s.ID}] = &end{t, until}
	return &t
}

// apply makes a step. w.mu is held.
func (w *world) apply(s leased.Step) (o leased.Outcome) {
	w.rev++
	if s.Session != nil && s.Live > 0 && !w.extend(s.Session.ID()) {
		return leased.Outcome{Err: leased.ErrSessionLost}
	}
	switch s.Act {
	case leased.Enter:
		w.enter(s, &o)
	case leased.Look:
		w.look(s, &o)
	case leased.Leave:
		w.leave(s, &o)
	case leased.Rewrite:
		w.rewrite(s, &o)
	case leased.List:
		w.list(s, &o)
	case leased.Get:
		if v := w.values[s.Name]; v != nil && (v.until.IsZero() || time.Now().Before(v.until)) {
			o.Value, o.Version = v.Value, v.version
		}
	case leased.Set:
		w.set(s, &o)
	}
	o.Revision = w.rev
	return o
}

func (w *world) enter(s leased.Step, o *leased.Outcome) {
	own, queue := w.find(s), w.queues[s.Name]
	switch ended := w.ended(s); {
	case own != nil:
	case ended != nil:
		o.There = &ended.Tombstone
		return
	case s.Try && slices.ContainsFunc(queue, func(q *leased.Seat) bool { return q.Token > uint64(s.Since) }):
		w.read(s, math.MaxInt64, o)
		return
	default:
		for _, q := range queue {
			if q.Place == s.Place {
				w.broken = append(w.broken, fmt.Sprintf("%s was put into the place of %s", s.ID, q.ID))
			}
		}
		seat := s.Seat
		seat.Token, seat.Version, seat.Session, seat.Place = uint64(w.rev), w.rev, s.Session.ID(), s.Place
		own = &seat
		w.queues[s.Name] = append(queue, own)
		o.Done = true
		w.tell(s.Name, leased.WatchEvent{Kind: leased.Entered, Seat: seat, Revision: w.rev})
	}
	o.Found, o.Own = true, *own
	w.read(s, own.Token, o)
}

// read reads those ahead of a token.
func (w *world) read(s leased.Step, token uint64, o *leased.Outcome) {
	for _, seat := range slices.Backward(w.queues[s.Name]) {
		if seat.Token < token {
			o.Ahead = append(o.Ahead, *seat)
		} else if seat.Token > token {
			o.Behind = true
		}
	}
	o.Complete = !w.partial || len(o.Ahead) <= s.Ahead
	if !o.Complete {
		o.Ahead = o.Ahead[:s.Ahead]
	}
}

func (w *world) look(s leased.Step, o *leased.Outcome) {
	if s.ID == "" {
		w.read(s, s.Token, o)
		return
	}
	own := w.find(s)
	if own == nil || s.Token != 0 && own.Token != s.Token {
		return
	}
	if e := w.ended(s); e != nil && s.Live > 0 && s.Keep > 0 {
		w.remember(s, e.Tombstone, s.Keep)
	}
	o.Found, o.Own = true, *own
	w.read(s, own.Token, o)
	if s.Blocker != "" {
		o.Complete, o.Ahead = false, nil
		for _, seat := range w.queues[s.Name] {
			if seat.Place == s.Blocker {
				o.Ahead = []leased.Seat{*seat}
			}
		}
	}
}

func (w *world) leave(s leased.Step, o *leased.Outcome) {
	own := w.find(s)
	ended := w.ended(s)
	switch {
	case own != nil && (s.Token != 0 && own.Token != s.Token || s.On != 0 && own.Session != s.On):
		o.Found, o.Own = true, *own
	case own != nil:
		if s.End.Token == 0 {
			s.End.Token = own.Token
		}
		o.Done = true
		if s.Keep > 0 && (!w.lean || !s.Clean || ended != nil) {
			o.There = w.remember(s, s.End, max(s.Keep, own.TTL))
		} else {
			delete(w.ends, claimKey{s.Name, s.ID})
		}
		w.take(s.Name, own)
	case ended != nil && s.Bar:
		o.There = w.remember(s, ended.Tombstone, s.Keep)
	case ended != nil:
		o.There = &ended.Tombstone
	case s.Bar:
		w.remember(s, leased.Tombstone{}, s.Keep)
	}
}

func (w *world) rewrite(s leased.Step, o *leased.Outcome) {
	own := w.find(s)
	if own == nil {
		return
	}
	if own.Version == s.Version {
		place, session := own.Place, own.Session
		if s.Session != nil {
			session = s.Session.ID()
		}
		*own = s.Seat
		own.Place, own.Session, own.Version, o.Done = place, session, w.rev, true
		if s.Keep > 0 {
			w.remember(s, leased.Tombstone{Token: own.Token}, s.Keep)
		}
		w.tell(s.Name, leased.WatchEvent{Kind: leased.Changed, Seat: *own, Revision: w.rev})
	}
	o.Found, o.Own = true, *own
}

func (w *world) list(s leased.Step, o *leased.Outcome) {
	for _, seat := range w.queues[s.Name] {
		shown := *seat
		shown.Left = min(time.Until(w.sessions[seat.Session].until), seat.TTL)
		o.Ahead = append(o.Ahead, shown)
	}
	if s.Most > 0 {
		o.Ahead = o.Ahead[:min(s.Most, len(o.Ahead))]
	}
}

func (w *world) set(s leased.Step, o *leased.Outcome) {
	own, before := w.find(s), w.values[s.Name]
	version := int64(0)
	if before != nil && (before.until.IsZero() || time.Now().Before(before.until)) {
		version = before.version
	}
	if own == nil || own.Token != s.Token || version != s.Version {
		return
	}
	v := &value{Value: s.Value, version: w.rev}
	if s.Value.Text == "" {
		v.until = time.Now().Add(s.Keep + leased.TombstoneGrace)
	}
	w.values[s.Name] = v
	o.Done = true
}
