package holdfast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A plan is all that happens in one run, drawn from a seed before the run begins. Times are since its beginning.
type plan struct {
	seed    uint64
	ttl     time.Duration
	clients int
	visits  []visit
	acts    []act
	faults  []fault
	stalls  []stall
	hot     []time.Duration // when much happens at once; none: it happens at any time
}

// A visit acquires a lock, stays, and leaves.
type visit struct {
	at       time.Duration
	client   int
	lock     string // in wards
	try, do  bool
	patience time.Duration // of the acquisition; zero: it waits until it has the lock
	settings settings      // those of a lock, where they are not zero
	stay     sojourn
	resumes  []resume // of the handle, if the stay ends with one
}

// A sojourn is what a holder does.
type sojourn struct {
	view  view
	steps []step
	leave string        // release, detach, both at once, or forget until all is over
	limit time.Duration // of the context under which it leaves
}

// A step is what a holder does after a pause.
type step struct {
	after time.Duration
	what  string // look, check, or again: acquire once more what the context holds
}

// A resume goes on with a detached lock.
type resume struct {
	after  time.Duration
	client int
	stay   sojourn
}

// An act is what others do to a lock, or to a client.
type act struct {
	at     time.Duration
	what   string // break holder, break waiter, revoke, close, or suspend
	client int    // that acts, or is closed
	lock   string
	lasts  time.Duration // patience, or the suspension
}

// A fault is what a client's line does for a while.
type fault struct {
	from, lasts time.Duration
	client      int
	kind        string // see fate
}

// A stall is a while in which a client's observer or the handler of its logger does not return.
type stall struct {
	from, lasts time.Duration
	client      int
	who         string // observer or logger
}

// A corner is something that may happen, and how to take it out of a plan.
type corner struct {
	name string
	on   bool
	drop func(*plan)
}

// oneIn is true once in n times.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// upTo draws a duration.
func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// among draws one of some.
func among[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// draw makes the plan of a seed, with all that may happen.
func draw(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, ttl: among(r, time.Second, DefaultTTL, DefaultTTL, time.Minute), clients: 2 + r.IntN(3)}
	locks := p.drawLocks(r)
	for range among(r, 0, 2, 4) {
		p.hot = append(p.hot, upTo(r, p.length()))
	}
	for range 4 + r.IntN(12) {
		p.visits = append(p.visits, p.drawVisit(r, locks))
	}
	for range r.IntN(6) {
		p.acts = append(p.acts, p.drawAct(r, locks))
	}
	for range r.IntN(8) {
		p.faults = append(p.faults, p.drawFault(r))
	}
	for range r.IntN(3) {
		p.stalls = append(p.stalls, p.drawStall(r))
	}
	return p
}

// length is for how long new things happen.
func (p *plan) length() time.Duration { return 8 * p.ttl }

// when draws a time at which something begins.
func (p *plan) when(r *rand.Rand) time.Duration {
	if len(p.hot) == 0 || oneIn(r, 4) {
		return upTo(r, p.length())
	}
	return among(r, p.hot...) + upTo(r, among(r, 10*time.Millisecond, p.ttl/20, p.ttl/2))
}

// drawLocks makes most visitors want the same: there the corners are.
func (p *plan) drawLocks(r *rand.Rand) []string {
	switch r.IntN(4) {
	case 0:
		return []string{"writer", "reader"}
	case 1:
		return []string{"mutex", "permits"}
	default:
		return []string{"mutex"}
	}
}

func (p *plan) drawVisit(r *rand.Rand, locks []string) visit {
	v := visit{at: p.when(r), client: r.IntN(p.clients), lock: among(r, locks...), try: oneIn(r, 6), do: oneIn(r, 4)}
	v.patience = among(r, 0, upTo(r, p.ttl), upTo(r, 4*p.ttl))
	v.settings.handoff = among(r, 0, 1, DefaultLocalHandoff, DefaultLocalHandoff, DefaultLocalHandoff)
	v.settings.reentrant = oneIn(r, 2)
	if oneIn(r, 8) {
		v.settings.minHold = upTo(r, 2*p.ttl)
	}
	if v.settings.handoff > 0 && v.settings.minHold == 0 && oneIn(r, 3) {
		v.settings.reuse = upTo(r, 2*p.ttl)
	}
	v.settings.asyncRelease = oneIn(r, 4)
	if oneIn(r, 6) {
		v.settings.maxHold = v.settings.minHold + upTo(r, p.ttl) + 1
	}
	v.stay = p.drawStay(r)
	for range among(r, 0, 1, 1, 2, 3) {
		v.resumes = append(v.resumes, resume{upTo(r, among(r, p.ttl/4, p.ttl*9/8)), r.IntN(p.clients), p.drawStay(r)})
	}
	return v
}

func (p *plan) drawStay(r *rand.Rand) sojourn {
	s := sojourn{view: among(r, byErr, byContext, byDone, byAll, byAll), limit: among(r, 0, upTo(r, p.ttl), 4*p.ttl)}
	s.leave = among(r, "release", "release", "release", "release", "detach", "detach", "both", "forget")
	pause := among(r, p.ttl/100, p.ttl/4, p.ttl)
	for range 1 + r.IntN(5) {
		s.steps = append(s.steps, step{upTo(r, pause), among(r, "look", "look", "look", "check", "again")})
	}
	return s
}

func (p *plan) drawAct(r *rand.Rand, locks []string) act {
	a := act{at: p.when(r), client: r.IntN(p.clients), lock: among(r, locks...)}
	a.lasts = upTo(r, among(r, p.ttl/8, 2*p.ttl))
	a.what = among(r, "break holder", "break waiter", "revoke", "close", "suspend")
	return a
}

func (p *plan) drawFault(r *rand.Rand) fault {
	f := fault{from: p.when(r), lasts: upTo(r, among(r, p.ttl/10, p.ttl/2, 2*p.ttl)), client: r.IntN(p.clients)}
	f.kind = among(r, "cut", "mute", "held", "late", "slow", "lose", "refuse", "twice")
	return f
}

func (p *plan) drawStall(r *rand.Rand) stall {
	return stall{p.when(r), upTo(r, 3*p.ttl), r.IntN(p.clients), among(r, "observer", "logger")}
}

// without is the plan without what is off in the table.
func (p plan) without(table []corner) plan {
	p = p.copy()
	for _, c := range table {
		if !c.on {
			c.drop(&p)
		}
	}
	return p
}

func (p plan) copy() plan {
	p.visits, p.acts = slices.Clone(p.visits), slices.Clone(p.acts)
	p.faults, p.stalls = slices.Clone(p.faults), slices.Clone(p.stalls)
	return p
}

// eachStay lets change something of every sojourn.
func (p *plan) eachStay(change func(*sojourn)) {
	for i := range p.visits {
		v := &p.visits[i]
		v.stay.steps = slices.Clone(v.stay.steps)
		change(&v.stay)
		v.resumes = slices.Clone(v.resumes)
		for j := range v.resumes {
			v.resumes[j].stay.steps = slices.Clone(v.resumes[j].stay.steps)
			change(&v.resumes[j].stay)
		}
	}
}

func (p *plan) eachVisit(change func(*visit)) {
	for i := range p.visits {
		change(&p.visits[i])
	}
}

func (p *plan) noAct(what string) {
	p.acts = slices.DeleteFunc(p.acts, func(a act) bool { return a.what == what })
}

func (p *plan) noFault(kind string) {
	p.faults = slices.DeleteFunc(p.faults, func(f fault) bool { return f.kind == kind })
}

func (p *plan) noStall(who string) {
	p.stalls = slices.DeleteFunc(p.stalls, func(s stall) bool { return s.who == who })
}

// smaller yields plans that lack one thing each, until yield is false.
func (p plan) smaller(yield func(plan) bool) {
	for _, lack := range []func(q *plan, i int) bool{
		func(q *plan, i int) bool { return cut(&q.visits, i) },
		func(q *plan, i int) bool { return cut(&q.faults, i) },
		func(q *plan, i int) bool { return cut(&q.acts, i) },
		func(q *plan, i int) bool { return cut(&q.stalls, i) },
		func(q *plan, i int) bool { return q.lackStep(i) },
	} {
		for i := 0; ; i++ {
			q := p.copy()
			if !lack(&q, i) {
				break
			}
			if !yield(q) {
				return
			}
		}
	}
}

// lackStep takes away the i-th step or resume of all.
func (p *plan) lackStep(i int) (found bool) {
	lack := func(s *sojourn) {
		if i >= 0 && i < len(s.steps) {
			found = cut(&s.steps, i)
		}
		i -= len(s.steps)
	}
	p.eachStay(lack)
	for k := range p.visits {
		if i >= 0 && i < len(p.visits[k].resumes) && !found {
			found = cut(&p.visits[k].resumes, i)
		}
		i -= len(p.visits[k].resumes)
	}
	return found
}

// cut takes the i-th away, if there is one.
func cut[T any](from *[]T, i int) bool {
	if i >= len(*from) {
		return false
	}
	*from = slices.Delete(slices.Clone(*from), i, i+1)
	return true
}

func (p plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "TTL %v, %d clients\n", p.ttl, p.clients)
	for _, v := range p.visits {
		fmt.Fprintf(&b, "visit   %+v\n", v.words())
	}
	for _, a := range p.acts {
		fmt.Fprintf(&b, "act     at %v: %s on %s by client %d, for %v\n", a.at, a.what, a.lock, a.client, a.lasts)
	}
	for _, f := range p.faults {
		fmt.Fprintf(&b, "line    %d: %s from %v to %v\n", f.client, f.kind, f.from, f.from+f.lasts)
	}
	for _, s := range p.stalls {
		fmt.Fprintf(&b, "%-7s of client %d: blocks from %v to %v\n", s.who, s.client, s.from, s.from+s.lasts)
	}
	return b.String()
}

func (v visit) words() string {
	s := fmt.Sprintf("at %v: client %d, %s", v.at, v.client, v.lock)
	ways := map[string]bool{" by Try": v.try, " by Do": v.do && !v.try, " reentrant": v.settings.reentrant,
		" releasing later": v.settings.asyncRelease}
	for word, said := range ways {
		if said {
			s += word
		}
	}
	s += fmt.Sprintf(", patience %v, handoff %d", v.patience, v.settings.handoff)
	s += fmt.Sprintf(", min hold %v, max hold %v, reuse %v; %v", v.settings.minHold, v.settings.maxHold,
		v.settings.reuse, v.stay)
	for _, r := range v.resumes {
		s += fmt.Sprintf("\n          resumed by client %d after %v; %v", r.client, r.after, r.stay)
	}
	return s
}

func (s sojourn) String() string {
	words := fmt.Sprintf("looks by %v;", s.view)
	for _, step := range s.steps {
		words += fmt.Sprintf(" %s after %v,", step.what, step.after)
	}
	return words + fmt.Sprintf(" then %s within %v", s.leave, s.limit)
}
