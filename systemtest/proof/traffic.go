package proof

import (
	"fmt"
	"time"
)

// A claim is requested, renewed each third of its TTL, and released; who waits for it is told when it may be granted.
// Each of that is answered in some bytes, whatever else there is on the lock and on the server.

// perAnswer is how many bytes that may be, on average, with all that a library asks besides.
func (r Record) perAnswer() int64 {
	switch {
	case r.Voted: // five servers answer, and say which they are
		return 16 << 10
	case r.Lists: // each claim that queues reads the names of hundreds
		return 64 << 10
	default: // who shares a lock on etcd reads some twenty claims that came before
		return 3 << 10
	}
}

// traffic finds visitors to whom servers sent more than their claims can need.
func (r Record) traffic() (wrongs []Wrong) {
	for visitor, bytes := range r.Answers {
		asked := r.asked(visitor)
		if bytes > asked*r.perAnswer()+r.swept() && !r.died(visitor) {
			wrongs = append(wrongs, Wrong{Lock: "all", Text: fmt.Sprintf(
				"servers sent visitor %d %d bytes, for %d answers or so", visitor, bytes, asked)})
		}
	}
	return wrongs
}

// perSwept is how many bytes it takes to sweep up one of many locks: to be told its name, which is long, and that it
// is gone.
const perSwept = 512

// swept is how many bytes a visitor may be sent as it sweeps up what others had many of. One may have to do it all.
func (r Record) swept() (bytes int64) {
	if r.Swept {
		for _, m := range r.Many {
			bytes += int64(m.Held+m.Waited) * perSwept
		}
	}
	return bytes
}

// mostPerAnswer is the most that servers sent a visitor for one answer, on average.
func (r Record) mostPerAnswer() (most int64) {
	for visitor, bytes := range r.Answers {
		if !r.died(visitor) {
			most = max(most, bytes/r.asked(visitor))
		}
	}
	return most
}

// atAll is how many answers a visitor gets in a third of a TTL that asks for nothing.
const atAll = 8

// perTransaction is how many answers one has that writes a number under a lock.
const perTransaction = 8

// asked is how many answers a visitor had, more or less.
func (r Record) asked(visitor int) (n int64) {
	thirds := func(s time.Duration) int64 { return int64(3 * s / r.Schedule.TTL) }
	n = atAll * (1 + thirds(r.Schedule.Lasts))
	for _, v := range r.Visits {
		if v.Visitor == visitor {
			n += 3 + thirds(max(v.Return, v.Left, v.Call)-v.Call)
		}
	}
	for _, c := range r.Counts {
		if c.Visitor == visitor {
			n += perTransaction + thirds(c.Return-c.Call)
		}
	}
	for _, m := range r.Many {
		if m.Visitor == visitor {
			n += int64(m.Held+m.Waited) * (3 + thirds(m.To-m.From))
		}
	}
	return n
}

// died reports whether a visitor was killed, so that it may not have told what it had asked for.
func (r Record) died(visitor int) bool {
	for _, s := range r.Struck {
		if s.Target == OnVisitor && s.Number == visitor && s.What == Death {
			return true
		}
	}
	return false
}
