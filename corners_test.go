package holdfast

import (
	"strconv"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
)

// corners is all that may happen in a run, and whether it does.
var corners = []corner{
	{"try", true, func(p *plan) { p.eachVisit(func(v *visit) { v.try = false }) }},
	{"do", true, func(p *plan) { p.eachVisit(func(v *visit) { v.do = false }) }},
	{"reentrant", true, func(p *plan) { p.eachVisit(func(v *visit) { v.settings.reentrant = false }) }},
	{"min hold", true, func(p *plan) { p.eachVisit(func(v *visit) { v.settings.minHold = 0 }) }},
	{"max hold", true, func(p *plan) { p.eachVisit(func(v *visit) { v.settings.maxHold = 0 }) }},
	{"reuse", true, func(p *plan) { p.eachVisit(func(v *visit) { v.settings.reuse = 0 }) }},
	{"async release", true, func(p *plan) { p.eachVisit(func(v *visit) { v.settings.asyncRelease = false }) }},
	{"detach", true, func(p *plan) { p.never("detach") }},
	{"detach beside release", true, func(p *plan) { p.never("both") }},
	{"resume", true, func(p *plan) { p.eachVisit(func(v *visit) { v.resumes = nil }) }},
	{"resume twice", true, func(p *plan) {
		p.eachVisit(func(v *visit) { v.resumes = v.resumes[:min(1, len(v.resumes))] })
	}},
	{"forget", true, func(p *plan) { p.never("forget") }},
	{"revoke", true, func(p *plan) { p.noAct("revoke") }},
	{"break holder", true, func(p *plan) { p.noAct("break holder") }},
	{"break waiter", true, func(p *plan) { p.noAct("break waiter") }},
	{"close", true, func(p *plan) { p.noAct("close") }},
	{"suspend", true, func(p *plan) { p.noAct("suspend") }},
	{"cut", true, func(p *plan) { p.noFault("cut") }},
	{"mute", true, func(p *plan) { p.noFault("mute") }},
	{"held", true, func(p *plan) { p.noFault("held") }},
	{"late", true, func(p *plan) { p.noFault("late") }},
	{"slow", true, func(p *plan) { p.noFault("slow") }},
	{"lose", true, func(p *plan) { p.noFault("lose") }},
	{"refuse", true, func(p *plan) { p.noFault("refuse") }},
	{"twice", true, func(p *plan) { p.noFault("twice") }},
	{"blocking observer", true, func(p *plan) { p.noStall("observer") }},
	{"blocking logger", true, func(p *plan) { p.noStall("logger") }},
}

// never lets those who would leave in this way release.
func (p *plan) never(leave string) {
	p.eachStay(func(s *sojourn) {
		if s.leave == leave {
			s.leave = "release"
		}
	})
}

// Seeds that every run of the tests tries, and those that take minutes.
const (
	fewSeeds  = 100
	allSeeds  = 10_000
	mostFails = 20 // after so many it is of no use to try more
)

// Whatever happens to locks, together and at the worst time, the promises hold: see judge.
func TestCorners(t *testing.T) {
	seeds := effort.Pick(fewSeeds, allSeeds)
	for seed, fails := 0, 0; seed < seeds && fails < mostFails; seed++ {
		if !t.Run(strconv.Itoa(seed), func(t *testing.T) { tryCorners(t, uint64(seed)) }) {
			fails++
		}
	}
}

// tryCorners tries one seed, and shows the smallest part of its plan that fails as it does.
func tryCorners(t *testing.T, seed uint64) {
	p := draw(seed).without(corners)
	h := p.run(t)
	if !h.failed() {
		return
	}
	p, h = p.shrink(t, h)
	t.Fatalf("%v\n\nThe plan, as small as it still fails:\n%v\nAgain, with all of the seed's plan: "+
		"HOLDFAST_SOAK=1 go test -run '^TestCorners$/^%d$' .", h, p, seed)
}

// shrink returns a plan that still fails, of which nothing can be left out, and its history.
func (p plan) shrink(t *testing.T, h *history) (plan, *history) {
	for found := true; found; {
		found = false
		for q := range p.smaller {
			if g := q.run(t); g.failed() {
				p, h, found = q, g, true
				break
			}
		}
	}
	return p, h
}
