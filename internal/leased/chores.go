package leased

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// chores are what the engine does for no caller: it takes claims out of their queues that nobody renewed, and marks
// those that are granted where others wait for that. What has gathered is done together, by a goroutine that is there
// only while something is to be done.
type chores struct {
	mu      sync.Mutex
	due     []func(*task)
	workers int
}

// A few workers keep one server that hangs from holding up what is due elsewhere.
const (
	choreWorkers = 4
	choreTime    = 5 * time.Second
)

// later has a chore done soon.
func (d *Engine) later(do func(*task)) {
	d.chores.mu.Lock()
	defer d.chores.mu.Unlock()
	d.chores.due = append(d.chores.due, do)
	if len(d.chores.due) == 1 && d.chores.workers < choreWorkers {
		d.chores.workers++
		d.running.Go(d.work)
	}
}

// work does what is due until nothing is.
func (d *Engine) work() {
	for {
		d.chores.mu.Lock()
		due := d.chores.due
		d.chores.due = nil
		if len(due) == 0 || d.lifetime.Err() != nil {
			d.chores.workers--
			d.chores.mu.Unlock()
			return
		}
		d.chores.mu.Unlock()
		ctx, cancel := d.within(choreTime)
		d.together(ctx, len(due), func(i int, t *task) { due[i](t) })
		cancel()
	}
}

// How long to wait until a claim is removed again, after no answer, and after a refusal, which may be withdrawn.
const (
	removePause  = 100 * time.Millisecond
	refusedPause = time.Second
)

// expire takes a claim out of the queue that was not renewed: its session is shared with others, so it does not end.
// It is over for its callers at once; until it has left the queue, it counts as leaving, so that nobody takes it over
// from there.
func (e *claim) expire() {
	followed := e.d.isFollowed(e)
	e.End()
	e.d.askIf(followed, e) // another client may keep it
	e.d.later(func(t *task) { t.remove(e) })
}

// remove takes a claim out of the queue, again until that is confirmed or the sessions are gone that it may be in. It
// bars the ID if the claim is not there, unless another client has taken it over.
func (t *task) remove(e *claim) {
	for _, tn := range e.tenancies() {
		if !tn.IsAlive() {
			continue
		}
		step := e.step(Leave)
		step.On, step.Bar = tn.ID(), true
		step.End, step.Keep, step.Clean = Tombstone{Token: e.Token()}, e.Longest(), e.isClean() && e.Token() != 0
		o := t.ask(step)
		if o.Found {
			e.Doubt() // another client has taken it over where it is, so its place is not free
		}
		if o.Err == nil || errors.Is(o.Err, ErrSessionLost) {
			continue
		}
		pause := removePause
		if errors.Is(o.Err, driver.ErrRefused) {
			pause = refusedPause
			tn.Stuck(driver.Claim{Name: e.Name, ID: e.ID})
		}
		time.AfterFunc(pause, func() { t.d.later(func(t *task) { t.remove(e) }) })
		return
	}
	e.Left()
	t.d.claims.Remember(e)
	e.give()
}

// mark notes in the seat of a claim that it is granted, and its bounds. If that fails, those behind read further, and
// the next of them learns of it when it is renewed.
func (d *Engine) mark(e *claim, own Seat, bounds Bounds) {
	own.Fits = &bounds
	step := e.step(Rewrite)
	step.Version, step.Seat = own.Version, own
	d.later(func(t *task) { t.ask(step) })
}

// markAgain marks a granted claim where that failed before: those behind it may wait for nothing else.
func (d *Engine) markAgain(e *claim, o Outcome) {
	if bounds := e.Bounds(); o.Behind && bounds != (Bounds{}) && !o.Own.IsExclusive() && o.Own.Fits == nil {
		d.mark(e, o.Own, bounds)
	}
}
