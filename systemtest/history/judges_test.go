package history

import (
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// inside makes a visit of one unit that was answered, from call to release.
func inside(visitor int, token uint64, call, ret, seen, left time.Duration) Visit {
	return Visit{Visitor: visitor, Units: 1, Token: token, Call: call * ms, Return: ret * ms, Seen: seen * ms,
		Leave: seen * ms, Left: left * ms, TTL: 100 * ms}
}

// with changes a visit.
func with(v Visit, change func(*Visit)) Visit {
	change(&v)
	return v
}

func lost(v *Visit)    { v.Ended = Lost }
func taken(v *Visit)   { v.Outcome, v.Try = Taken, true }
func unknown(v *Visit) { v.Outcome = Unknown }
func unheard(v *Visit) { v.Unheard = true }

// Where votes are counted, a try may be refused because of a rival that is refused too, but not because of nobody.
func TestSplitVotes(t *testing.T) {
	rivals := []Visit{with(inside(1, 0, 0, 10, 0, 0), taken), with(inside(2, 0, 5, 15, 0, 0), taken)}
	for _, row := range []struct {
		name   string
		voted  bool
		visits []Visit
		legal  bool
	}{
		{"one lock", false, rivals, false},
		{"votes", true, rivals, true},
		{"votes, and no rival", true, append(rivals, with(inside(1, 0, 20, 30, 0, 0), taken)), false},
	} {
		h := History{Limit: 1, Voted: row.voted, Visits: row.visits}
		if err := h.Legal(10 * time.Second); (err == nil) != row.legal {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// The judges, on histories that could be and on those that could not.
func TestJudges(t *testing.T) {
	first := inside(1, 10, 0, 10, 50, 60)
	for _, row := range []struct {
		name                   string
		limit                  int64
		visits                 []Visit
		overlap, tokens, legal bool // what each judge should find no fault with
	}{
		{"one after the other", 1, []Visit{first, inside(2, 11, 5, 55, 70, 80)}, true, true, true},
		{"both inside", 1, []Visit{first, inside(2, 11, 5, 40, 70, 80)}, false, true, false},
		{"both inside for less than a release takes", 1, []Visit{first, inside(2, 11, 5, 55, 70, 80)}, true, true,
			true},
		{"two of two", 2, []Visit{first, inside(2, 11, 5, 40, 70, 80)}, true, true, true},
		{"three of two", 2, []Visit{first, inside(2, 11, 5, 40, 70, 80), inside(3, 12, 5, 41, 70, 80)}, false, true,
			false},
		{"the same token", 1, []Visit{first, inside(2, 10, 61, 65, 70, 80)}, true, false, false},
		{"a smaller token", 1, []Visit{first, inside(2, 9, 61, 65, 70, 80)}, true, false, false},
		{"no token", 1, []Visit{inside(1, 0, 0, 10, 50, 60)}, true, false, false},
		{"let in at the same time, in either order", 2,
			[]Visit{inside(1, 11, 0, 10, 50, 60), inside(2, 10, 0, 10, 50, 60)}, true, true, true},
		{"refused while it is held", 1, []Visit{first, with(inside(2, 0, 20, 30, 0, 0), taken)}, true, true, true},
		{"refused while it is free", 1, []Visit{first, with(inside(2, 0, 70, 80, 0, 0), taken)}, true, true, false},
		{"refused because of who was not answered", 1,
			[]Visit{with(inside(1, 0, 0, 10, 0, 0), unknown),
				with(inside(2, 0, 70, 80, 0, 0), taken)}, true, true, true},
		{"refused long after who was not answered", 1,
			[]Visit{with(inside(1, 0, 0, 10, 0, 0), unknown),
				with(inside(2, 0, 270, 280, 0, 0), taken)}, true, true, false},
		{"refused because of who waited, and may have had it unheard", 1,
			[]Visit{with(inside(1, 10, 0, 270, 280, 290), unheard), with(inside(2, 0, 150, 160, 0, 0), taken)},
			true, true, true},
		{"refused before who may have had it unheard came", 1,
			[]Visit{with(inside(1, 10, 20, 270, 280, 290), unheard), with(inside(2, 0, 0, 10, 0, 0), taken)},
			true, true, false},
		{"lost, then another", 1, []Visit{with(first, lost), inside(2, 11, 5, 55, 70, 80)}, true, true, true},
		{"another before the loss was seen", 1, []Visit{with(first, lost), inside(2, 11, 5, 45, 70, 80)}, false, true,
			false},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := History{Limit: row.limit, Visits: row.visits}
			for judge, verdict := range map[string]struct {
				err  error
				want bool
			}{
				"overlap": {h.Overlap(), row.overlap},
				"tokens":  {h.Tokens(), row.tokens},
				"legal":   {h.Legal(10 * time.Second), row.legal},
			} {
				if (verdict.err == nil) != verdict.want {
					t.Errorf("%s: %v", judge, verdict.err)
				}
			}
		})
	}
}

// A long history is judged in the parts between which nobody had anything to do with the lock.
func TestLongHistory(t *testing.T) {
	const visits = 3 * mostVisits
	one := func(i int) Visit {
		at := time.Duration(i) * 100
		return inside(i%3, uint64(i+1), at, at+10, at+50, at+60)
	}
	for _, row := range []struct {
		name  string
		plant func(visits []Visit)
		want  string
	}{
		{"one after the other", func([]Visit) {}, ""},
		{"a token of a part before", func(all []Visit) { all[visits-1].Token = 7 }, "no order"},
		{"refused by nobody", func(all []Visit) { taken(&all[visits-1]) }, "no order"},
		{"no moment without anybody", func(all []Visit) {
			for i := range all {
				all[i].Call = 0
			}
		}, "more than 512"},
	} {
		h := History{Limit: 1}
		for i := range visits {
			h.Visits = append(h.Visits, one(i))
		}
		row.plant(h.Visits)
		err := h.Legal(time.Minute)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
