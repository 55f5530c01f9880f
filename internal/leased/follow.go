package leased

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A spot is what is watched for claims that wait for something there.
type spot struct {
	claims map[*claim]struct{}
	told   bool  // events have been told
	last   int64 // revision of the last; zero: not known
	since  int64 // the revision from which on all events are told; zero: they may not be yet
}

// A looker watches the queue of a lock without a claim, for OpWatch.
type looker struct {
	wants bool // it is to be told of the next event
	timer *time.Timer
}

// follow tells what happens to a claim from now on, or no longer, as the answer to a request says.
func (d *Engine) follow(op driver.Op, st driver.Status, err error) {
	e := d.claims.Known(op.Claim)
	switch {
	case e == nil:
	case errors.Is(err, driver.ErrGone), err == nil && st.Granted && !op.Follow, err == nil && st.Token == 0:
		d.unfollow(e)
	case err == nil:
		d.mu.Lock()
		e.following, e.granted = len(d.tells) > 0 && !e.IsOver(), op.Follow
		due := d.watch(e)
		d.mu.Unlock()
		d.askIf(due, e)
	}
}

// refollow watches what a claim that is followed waits for by now.
func (d *Engine) refollow(e *claim) {
	d.mu.Lock()
	due := d.watch(e)
	d.mu.Unlock()
	d.askIf(due, e)
}

// unfollow tells nothing more of a claim.
func (d *Engine) unfollow(e *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.following = false
	d.watch(e)
}

// watch has the spots watched that matter to a claim, and no others. It reports whether something may have happened at
// one of them after the claim was read. d.mu is held.
func (d *Engine) watch(e *claim) (due bool) {
	want := d.spotsOf(e)
	for _, at := range e.spots {
		if !slices.Contains(want, at) {
			d.unwatch(at, e)
		}
	}
	for _, at := range want {
		if !slices.Contains(e.spots, at) {
			due = d.watchFor(at, e) || due
		}
	}
	e.spots = want
	e.due = e.due || due
	return due
}

// spotsOf are the spots that matter to a claim that is followed.
func (d *Engine) spotsOf(e *claim) []Spot {
	own, queue := Spot{Name: e.Name, Place: e.seatPlace()}, Spot{Name: e.Name}
	switch v := e.Verdict(); {
	case !e.following || v.Granted && !e.granted:
		return nil
	case v.Granted:
		return []Spot{own}
	case v.Sure && !d.facts.Ordered:
		return []Spot{queue} // which tells of both ends in their order: see canTell
	case v.Until == AnyEnd:
		return []Spot{own, queue}
	default:
		return []Spot{own, {Name: e.Name, Place: v.Watch, Turn: v.Until == ItsTurn}}
	}
}

// watchFor has a spot watched for a claim, and reports whether an event was told before that the claim's last reading
// need not have seen.
func (d *Engine) watchFor(at Spot, e *claim) (missed bool) {
	sp, read := d.spots[at], e.Revision()
	if sp == nil {
		sp = &spot{claims: make(map[*claim]struct{})}
		d.spots[at] = sp
		d.store.Watch(at, read)
	}
	sp.claims[e] = struct{}{}
	return sp.told && (sp.last == 0 || sp.last > read)
}

func (d *Engine) unwatch(at Spot, e *claim) {
	if sp := d.spots[at]; sp != nil {
		delete(sp.claims, e)
		d.unwatchIdle(at, sp)
	}
}

// unwatchIdle has a spot watched no more that nobody is interested in.
func (d *Engine) unwatchIdle(at Spot, sp *spot) {
	if len(sp.claims) == 0 && (at.Place != "" || d.lookers[at.Name] == nil) {
		delete(d.spots, at)
		d.store.Unwatch(at)
	}
}

// happened passes on what the store tells. The store may be told to watch something else meanwhile.
func (d *Engine) happened(w WatchEvent) {
	if w.Lost != nil {
		d.lost()
		return
	}
	var events []driver.Event
	var ended []*claim
	d.mu.Lock()
	if sp := d.spots[w.Spot]; sp != nil {
		sp.note(w)
		for _, e := range slices.Collect(maps.Keys(sp.claims)) {
			event, what := d.judgeEvent(e, w)
			switch what {
			case isOver:
				ended = append(ended, e)
			case isNews:
				events = append(events, event)
			}
		}
		if l := d.lookers[w.Spot.Name]; w.Spot.Place == "" && l != nil && l.wants {
			l.wants = false
			events = append(events, driver.Event{Name: w.Spot.Name})
		}
	}
	d.mu.Unlock()
	for _, e := range ended {
		d.remember(e)
	}
	d.tell(events...)
}

func (sp *spot) note(w WatchEvent) {
	sp.told, sp.last = true, w.Revision
	if w.Kind == Began {
		sp.since, sp.last = w.Revision, max(w.Revision-1, 0)
	}
}

// These are what an event may mean to a claim.
type meaning uint8

const (
	isNothing meaning = iota
	isNews            // its client is told something
	isOver            // the claim has ended
)

// judgeEvent decides what an event means to a claim. d.mu is held.
func (d *Engine) judgeEvent(e *claim, w WatchEvent) (driver.Event, meaning) {
	ask := driver.Event{Name: e.Name, ID: e.ID}
	read := e.Revision()
	isLate := w.Revision != 0 && w.Revision <= read // the last reading has seen it
	if w.Kind == Began {
		isLate = sees(w.Revision, read)
	}
	v := e.Verdict()
	own := w.Seat.Place == e.seatPlace()
	switch {
	case w.Kind == Ended && own && w.Revision != 0 && w.Revision <= int64(e.Token()):
		return ask, isNothing // of a claim that had the place before
	case w.Kind == Ended && own && w.Revision != 0:
		return ask, isOver
	case w.Kind == Changed && own && v.Granted && w.Seat.Token == e.Token() && w.Seat.Revoked:
		e.Revoke(true)
		return driver.Event{Name: e.Name, ID: e.ID, Status: e.Status()}, isNews
	case w.Kind == Changed && (v.Until != ItsTurn || w.Seat.Place != v.Watch || w.Seat.Fits == nil):
		return ask, isNothing
	case isLate, w.Kind == Entered, v.Granted && !own && w.Kind != Began:
		return ask, isNothing
	case w.Kind == Ended && v.Sure && w.Seat.Place == v.Watch && d.canTell(e):
		e.Grant()
		d.watch(e)
		return driver.Event{Name: e.Name, ID: e.ID, Status: e.Status()}, isNews
	case w.Kind == Ended && v.Until != AnyEnd && w.Seat.Place != "" && w.Seat.Place != v.Watch && !own:
		return ask, isNothing
	}
	e.due = true
	return ask, isNews
}

// sees reports whether events that are told from a revision on, and a reading, leave no gap. Zero is not known.
func sees(since, read int64) bool { return since != 0 && since <= read+1 }

// canTell reports whether the end of what the claim waits for grants it, so that it need not be read again: it has been
// read since all events are told, so its own end would have been told before; and its time has not come.
func (d *Engine) canTell(e *claim) bool {
	covered := !slices.ContainsFunc(e.spots, func(at Spot) bool {
		sp := d.spots[at]
		return !sees(sp.since, e.Revision())
	})
	return covered && !e.due && e.Lives() && !e.IsOver()
}

// takeDue begins a look, and reports whether something has happened that makes a full one due.
func (d *Engine) takeDue(e *claim) (due bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, e.due = e.due, false
	return due
}

// markDue notes that a look has failed.
func (d *Engine) markDue(e *claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.due = true
}

// askIf has a claim asked about.
func (d *Engine) askIf(due bool, e *claim) {
	if due {
		d.tell(driver.Event{Name: e.Name, ID: e.ID})
	}
}

// isFollowed reports whether what happens to a claim is told.
func (d *Engine) isFollowed(e *claim) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return e.following
}

// tellEnd tells that a claim that is followed has ended. It is not followed any more.
func (d *Engine) tellEnd(e *claim) {
	d.mu.Lock()
	following := e.following
	e.following = false
	d.watch(e)
	d.mu.Unlock()
	if following {
		d.tell(driver.Event{Name: e.Name, ID: e.ID, Err: driver.ErrGone})
	}
}

// lost ends the claims whose sessions are gone.
func (d *Engine) lost() {
	for _, e := range d.claims.All() {
		e.isGone() // which notes it
	}
}

// lookOut has the next change of a queue told, as [driver.OpWatch] says. Where the queue was not watched already, an
// event tells when it is, because something may have changed before.
func (d *Engine) lookOut(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lifetime.Err() != nil {
		return
	}
	l, at := d.lookers[name], Spot{Name: name}
	if l == nil {
		l = &looker{}
		l.timer = time.AfterFunc(driver.WatchTime, func() { d.stopLooking(name, l) })
		d.lookers[name] = l
	}
	l.wants = true
	l.timer.Reset(driver.WatchTime)
	if d.spots[at] == nil {
		d.spots[at] = &spot{claims: make(map[*claim]struct{})}
		d.store.Watch(at, 0)
	}
}

func (d *Engine) stopLooking(name string, l *looker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lookers[name] != l {
		return
	}
	delete(d.lookers, name)
	if at := (Spot{Name: name}); d.spots[at] != nil {
		d.unwatchIdle(at, d.spots[at])
	}
}

func (d *Engine) stopLookers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lookers {
		l.timer.Stop()
	}
	clear(d.lookers)
	clear(d.tells)
}
