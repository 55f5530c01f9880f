package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/boottime"
)

// A judge sees all leases of a run, looks at them as their holders do, and says what must not be.
//
// Two leases overlap if each says that it is held between two moments at which the other does: a lease that has ended
// never lives again. So nothing that goroutines do at once is mistaken for an overlap.
type judge struct {
	world *world

	mu      sync.Mutex
	tenures []*tenure
	broken  map[string]time.Duration // when claims were broken
	let     map[string]time.Duration // when claims that several hold were given back by one of them
	asked   map[string]int           // calls of Resume under way, by claims: what they get may be given back before
	jump    time.Duration            // when the clock jumped last; zero: never
}

func newJudge(w *world) *judge {
	return &judge{world: w, broken: make(map[string]time.Duration), let: make(map[string]time.Duration),
		asked: make(map[string]int)}
}

// A tenure is a lease in the hands of its holder.
type tenure struct {
	judge   *judge
	who     string
	client  *Client
	lease   *Lease
	key     tenureKey
	looks   []way
	resumed bool          // others may have it too
	again   bool          // its context had it before
	called  time.Duration // when it was asked for
	entered time.Duration // when it was there
	arrived bool          // it was alive then

	mu      sync.Mutex
	leaving time.Duration // since when its holder has asked for its end, or its client is closed; zero: not yet
	gone    time.Duration // when it was known to be over
	handed  bool          // it was detached
	unclear bool          // it is being released, or its release failed
}

// A tenureKey tells periods of holding apart: leases that are counted share one, and so do those of one handle.
type tenureKey struct {
	claim string
	token uint64
}

// A way is one of looking at a lease.
type way struct {
	name    string
	held    func() bool
	passive bool // nothing is asked when it is used, so it may be late after the clock has jumped
}

// A view says which ways a holder uses. Who does not use the context does not listen for news either.
type view string

const (
	byErr     view = "Err"
	byContext view = "Context"
	byDone    view = "Done"
	byAll     view = "all"
)

// ways are those of a view. Err comes last, because it may end the lease.
func (l view) ways(lease *Lease, inside context.Context) (ws []way) {
	if inside != nil {
		ws = append(ws, byChannel("Do's Done", inside), way{"Do's Context", isAlive(inside), false})
	}
	if l == byDone || l == byAll {
		ws = append(ws, byChannel("Done", lease.Context()))
	}
	if l == byContext || l == byAll {
		ws = append(ws, way{"Context", func() bool { return lease.Context().Err() == nil }, false})
	}
	if l == byErr || l == byAll {
		ws = append(ws, way{"Err", func() bool { return lease.Err() == nil }, false})
	}
	return ws
}

func isAlive(ctx context.Context) func() bool { return func() bool { return ctx.Err() == nil } }

func byChannel(name string, ctx context.Context) way {
	done := ctx.Done()
	return way{name, func() bool {
		select {
		case <-done:
			return false
		default:
			return true
		}
	}, true}
}

// held names a way by which the lease looks alive; none when it is over.
func (t *tenure) held() string {
	for _, w := range t.looks {
		if w.held() && !(w.passive && t.judge.justJumped()) {
			return w.name
		}
	}
	return ""
}

// over notes when a lease was known to be over.
func (t *tenure) over(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone == 0 {
		t.gone = at
	}
}

func (t *tenure) goneAt() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone
}

// leave notes that the end of a lease is asked for.
func (t *tenure) leave(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leaving == 0 {
		t.leaving = at
	}
}

// handOn notes that a lease is detached: what follows is for others to say.
func (t *tenure) handOn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handed = true
}

// unsure notes whether it is not known how a lease ends.
func (t *tenure) unsure(unclear bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unclear = unclear
}

func (t *tenure) endedWell() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.handed && !t.unclear
}

func (t *tenure) leavingSince() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leaving
}

func (t *tenure) name() string { return t.lease.Name() }

func (t *tenure) ask() ask { return t.lease.grant.ask }

func (t *tenure) String() string {
	return fmt.Sprintf("%s with claim %s, token %d", t.who, t.key.claim, t.key.token)
}

// enter takes note of a lease that is new to its holder.
func (j *judge) enter(t *tenure) {
	j.mu.Lock()
	before := slices.Clone(j.tenures)
	j.tenures = append(j.tenures, t)
	j.mu.Unlock()
	j.world.leaveClosed(t)
	t.arrived = t.held() != ""
	j.world.history.note(t.who, "holds claim %s, token %d", t.key.claim, t.key.token)
	j.look(t)
	if t.arrived && !j.excused(t) {
		j.tokens(t, before)
		j.minimumHolds(t, before)
	}
}

// all returns who has entered.
func (j *judge) all() []*tenure {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.tenures)
}

// lookAround looks at all leases.
func (j *judge) lookAround() {
	for _, t := range j.all() {
		if t.goneAt() == 0 {
			j.look(t)
		}
	}
}

// look judges a lease and those beside it.
func (j *judge) look(t *tenure) {
	j.deadlines(t)
	var rivals []*tenure
	for _, r := range j.all() {
		if r.key != t.key && r.name() == t.name() && r.goneAt() == 0 && !j.excused(r) && r.held() != "" {
			rivals = append(rivals, r)
		}
	}
	how := t.held()
	if how == "" {
		t.over(j.world.history.since())
		return
	}
	inside, used := []tenureKey{t.key}, t.ask().weight
	limit, words := t.ask().limit, ""
	for _, r := range rivals {
		if way := r.held(); way != "" && !slices.Contains(inside, r.key) {
			inside = append(inside, r.key)
			used, limit = used+r.ask().weight, min(limit, r.ask().limit)
			words += fmt.Sprintf(", beside %v (by %s)", r, way)
		}
	}
	if used > limit && !j.excused(t) {
		j.world.history.fault("overlap: %v (by %s)%s", t, how, words)
	}
}

// deadlines judges whether a lease lives for longer than it was granted, or may be held.
func (j *judge) deadlines(t *tenure) {
	at, since := now(), j.world.history.since()
	for _, w := range t.looks {
		if w.passive && j.justJumped() || !w.held() {
			continue
		}
		if late := at.sub(t.lease.grant.hold.validUntil()); late > 0 {
			j.world.history.fault("%v: %s says that it is held %v after its deadline", t, w.name, late)
		}
		if most := t.lease.grant.lock.settings.maxHold; most > 0 && since-t.entered > most {
			const says = "%v: %s says that it is held after %v, which is longer than %v"
			j.world.history.fault(says, t, w.name, since-t.entered, most)
		}
	}
}

// tokens judges the token of a lease that is alive.
func (j *judge) tokens(t *tenure, before []*tenure) {
	for _, m := range before {
		switch {
		case m.name() != t.name() || j.excused(m):
		case m.key == t.key:
			if m.lease.grant != t.lease.grant && !t.resumed {
				j.world.history.fault("token given twice: %v, and %v", m, t)
			}
		case m.key.token == t.key.token:
			j.world.history.fault("token of two claims: %v, and %v", m, t)
		case m.key.token > t.key.token && m.conflicts(t):
			j.world.history.fault("tokens fall: %v is let in after %v", t, m)
		case m.key.token > t.key.token && !t.again && !t.resumed && m.goneAt() != 0 && m.goneAt() < t.called:
			j.world.history.fault("tokens fall: %v was asked for after %v was over", t, m)
		}
	}
}

// conflicts reports whether two leases exclude each other.
func (t *tenure) conflicts(u *tenure) bool {
	return t.ask().weight+u.ask().weight > min(t.ask().limit, u.ask().limit)
}

// minimumHolds judges whether those before a lease were held for their minimum hold, unless they were broken, or over
// when their holder got them.
func (j *judge) minimumHolds(t *tenure, before []*tenure) {
	for _, m := range before {
		least := m.lease.grant.lock.settings.minHold
		held := now().sub(m.lease.grant.hold.since)
		counts := m.name() == t.name() && m.key != t.key && m.conflicts(t) && m.arrived && m.gaveBack()
		if least > held && counts && !j.wasBroken(m) {
			j.world.history.fault("%v was let in %v after %v, which was to be held for %v", t, held, m, least)
		}
	}
}

func (j *judge) wasBroken(t *tenure) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, broken := j.broken[t.key.claim]
	return broken
}

// gaveBack reports whether a lease ended well, and the lock with it.
func (t *tenure) gaveBack() bool {
	if t.again || !t.endedWell() {
		return false
	}
	select {
	case <-t.lease.Done():
		return errors.Is(context.Cause(t.lease.Context()), ErrReleased)
	default:
		return false
	}
}

// released judges a release that said that the lock was ours until it was called, or until its client was closed.
func (j *judge) released(t *tenure) {
	if j.excused(t) {
		return
	}
	called := t.leavingSince()
	for _, n := range j.all() {
		after := n.name() == t.name() && n.arrived && n.key.token > t.key.token && n.entered < called
		if after && n.conflicts(t) && !j.excused(n) {
			j.world.history.fault("release of %v says that all was well, though %v was let in before", t, n)
		}
	}
}

// breaks notes that a claim is broken now.
func (j *judge) breaks(claim string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.broken[claim]; !ok {
		j.broken[claim] = j.world.history.since()
	}
}

// releases notes that a claim is given back now, if somebody else holds it together with who asked for that.
func (j *judge) releases(claim string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	let := j.asked[claim] > 0
	for _, t := range j.tenures {
		let = let || t.key.claim == claim && t.resumed && t.leavingSince() > 0
	}
	if _, ok := j.let[claim]; let && !ok {
		j.let[claim] = j.world.history.since()
	}
}

// resumes notes that a call of Resume is under way, until the function that it returns is called.
func (j *judge) resumes(text string) (over func()) {
	h, _ := parseHandle(text)
	add := func(n int) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.asked[h.ID] += n
	}
	add(1)
	return func() { add(-1) }
}

// excused reports whether exclusion is not promised to a lease at the moment: for a TTL, in which its holder learns of
// it, after its claim was broken, or was given back by another who had resumed its handle.
func (j *judge) excused(t *tenure) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	since := j.world.history.since()
	broken, wasBroken := j.broken[t.key.claim]
	let, wasLet := j.let[t.key.claim]
	ttl := j.world.plan.ttl
	if wasBroken && since <= broken+ttl {
		return true
	}
	return wasLet && t.resumed && t.leavingSince() == 0 && since <= let+ttl
}

// jumped notes that the clock jumps now.
func (j *judge) jumped(at time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jump = at
}

// justJumped reports whether clients may not have noticed yet that the clock jumped: in a bubble they do at every tick.
func (j *judge) justJumped() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.jump > 0 && j.world.history.since() <= j.jump+boottime.Tick
}
