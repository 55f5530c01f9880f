package proof

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// timely are the judges who ask what happened in time. On a machine that is busy with something else nobody can tell
// whether a lock is slow.
var timely = []string{"maximum hold", "kept", "handed on", "order"}

// kept finds holders that lost their locks although the docs say that they keep them.
func (r Record) kept() (wrongs []Wrong) {
	for _, v := range r.Visits {
		if v.Outcome != history.Got || v.Ended != history.Lost || v.Cut {
			continue
		}
		v.Seen = max(v.Seen, v.Left) // what ends the claim while it is released is a reason, too
		_, broken := r.ended(v)
		announced := broken || v.overMost() || v.Gap >= v.TTL/4 // who did not look for so long may have been too late
		if !announced && !r.disturbed(v.Visit, Span{v.Return, v.Left}, nemesis.Outage) {
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: fmt.Sprintf("%v, lost it without a reason", v.Visit)})
		}
	}
	return append(wrongs, r.keptMany()...)
}

// maximumHold finds holders who were inside for longer, though they looked at their leases. Their clients end these by
// themselves, whatever befalls the line and the store.
func (r Record) maximumHold() (wrongs []Wrong) {
	for _, v := range r.Visits {
		slack := v.TTL / 4
		late := v.Outcome == history.Got && v.Most > 0 && v.Seen > v.Return+v.Most+slack
		if late && v.Gap < slack && !r.stoodStill(v.Visit, Span{v.Return, v.Seen}) {
			text := fmt.Sprintf("%v, for longer than %v", v.Visit, v.Most)
			wrongs = append(wrongs, Wrong{Lock: v.Lock, Text: text})
		}
	}
	return wrongs
}

// overMost reports whether a visit lasted for its maximum hold, which ends it.
func (v Visit) overMost() bool { return v.Most > 0 && v.Left-v.Call >= v.Most }

// handedOn finds mutexes that stood idle although somebody waited.
func (r Record) handedOn() (wrongs []Wrong) {
	for lock, visits := range r.mutexes() {
		lasted := newLasted(visits, r.over)
		for i, v := range visits {
			if !v.waited() {
				continue
			}
			bound := v.TTL/2 + time.Second
			if r.Voted {
				bound += v.TTL
			}
			idle := Span{max(v.Call, min(lasted.besides(i), v.Return)), v.Return}
			if idle.To-idle.From > bound && !r.disturbed(v.Visit, idle, nemesis.Nothing) {
				text := fmt.Sprintf("%v, waited, and the lock stood idle for %v", v.Visit, idle.To-idle.From)
				wrongs = append(wrongs, Wrong{Lock: lock, Text: text})
			}
		}
	}
	return wrongs
}

// lasted tells until when visits of a lock, which are sorted by their calls, were in the way of others.
type lasted struct {
	visits []Visit
	over   []time.Duration
	latest [][2]int // of each visit and those before it, the two that were in the way for longest; -1: there is none
}

func newLasted(visits []Visit, over func(Visit) time.Duration) lasted {
	l, latest := lasted{visits: visits}, [2]int{-1, -1}
	for i, v := range visits {
		l.over = append(l.over, over(v))
		switch {
		case latest[0] < 0 || l.over[i] > l.over[latest[0]]:
			latest = [2]int{i, latest[0]}
		case latest[1] < 0 || l.over[i] > l.over[latest[1]]:
			latest[1] = i
		}
		l.latest = append(l.latest, latest)
	}
	return l
}

// besides is until when others were in the way that came before the ith visit was let in.
func (l lasted) besides(i int) time.Duration {
	came, _ := slices.BinarySearchFunc(l.visits, l.visits[i].Return+1, func(v Visit, at time.Duration) int {
		return cmp.Compare(v.Call, at)
	})
	latest := l.latest[came-1]
	if latest[0] == i {
		latest[0] = latest[1]
	}
	if latest[0] < 0 {
		return 0
	}
	return l.over[latest[0]]
}

// waited reports whether a visitor got in that waited for this lock since its call, with the library: of a program of
// others nobody knows since when it waits, and how soon it looks.
func (v Visit) waited() bool { return v.Outcome == history.Got && !v.Try && !v.Together && !v.Foreign }

// mutexes are the visits of each mutex, by their calls.
func (r Record) mutexes() map[string][]Visit {
	all := make(map[string][]Visit)
	for _, v := range r.Visits {
		if limit(v.Lock) == 1 {
			v.Visit = r.lasting(v)
			all[v.Lock] = append(all[v.Lock], v)
		}
	}
	for _, visits := range all {
		slices.SortFunc(visits, func(a, b Visit) int { return cmp.Compare(a.Call, b.Call) })
	}
	return all
}

// order finds visitors of mutexes that were let in although others had waited for longer.
func (r Record) order() (wrongs []Wrong) {
	if r.Voted || r.Session || r.Unruly {
		return nil
	}
	settled := r.Schedule.TTL / 4 // after which a request surely is in the queue
	for lock, visits := range r.mutexes() {
		for i, first := range visits {
			if !first.waited() || first.Reuse > 0 {
				continue
			}
			for _, v := range visits[i+1:] {
				if v.Call >= first.Return {
					break
				}
				late := !v.Foreign && v.Call > first.Call+settled
				overtook := late && v.Outcome == history.Got && v.Return < first.Return
				if overtook && !r.disturbed(first.Visit, Span{first.Call, v.Return}, nemesis.Nothing) {
					text := fmt.Sprintf("%v, came at %v, after %v, who came at %v", v.Visit, v.Call, first.Visit,
						first.Call)
					wrongs = append(wrongs, Wrong{Lock: lock, Text: text})
				}
			}
		}
	}
	return wrongs
}
