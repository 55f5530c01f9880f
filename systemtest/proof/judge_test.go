package proof

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/history"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// visit is one of those that got in, held the lock from a moment to another, and released it.
func visit(visitor int, token uint64, call, from, to time.Duration) Visit {
	return Visit{Lock: "m0", Visit: history.Visit{
		Visitor: visitor, Units: 1, Token: token, TTL: sec,
		Call: call, Return: from, Seen: to, Leave: to, Left: to + ms,
	}}
}

// quiet is a record with which nothing is wrong: three visitors have waited for one lock, and counted on.
func quiet() Record {
	return Record{
		Schedule: Schedule{TTL: sec},
		Visits: []Visit{
			visit(0, 1, 0, 10*ms, 5*sec),
			visit(1, 2, 1*sec, 5*sec+20*ms, 6*sec),
			visit(2, 3, 2*sec, 6*sec+20*ms, 7*sec),
		},
		Touches: []Touch{
			{Lock: "m0", Token: 1}, {Lock: "m0", Token: 1, Write: true, Value: 1},
			{Lock: "m0", Token: 2, Value: 1}, {Lock: "m0", Token: 2, Write: true, Value: 2},
		},
		Counts: []Count{
			{Lock: "t0", Call: 1 * sec, Return: 2 * sec, Value: 1, Fate: Committed},
			{Lock: "t0", Call: 1 * sec, Return: 4 * sec, Value: 2, Fate: Unknown},
			{Lock: "t0", Call: 3 * sec, Return: 4 * sec, Value: 2, Fate: Undone},
			{Lock: "t0", Call: 3 * sec, Return: 4 * sec, Value: 3, Fate: Committed},
		},
		Counted: map[string]int64{"t0": 3},
		Many:    []Many{{Lock: "h0", Held: 1000, TTL: sec, Span: Span{1 * sec, 2 * sec}}},
		Ends:    []End{{Goroutines: 3, Heap: 1 << 20, Descriptors: 8}},
		Answers: []int64{1 << 12, 1 << 12, 1 << 12},
	}
}

// Each judge finds what was planted for it, and nothing in a record without.
func TestJudges(t *testing.T) {
	if wrongs := quiet().Judge(); len(wrongs) > 0 {
		t.Fatalf("nothing was planted, and found is %v", wrongs)
	}
	plants := map[string]func(*Record){
		"exclusion":    func(r *Record) { r.Visits[1].Return = 4 * sec },
		"resource":     func(r *Record) { r.Touches[3].Value = 1 },
		"tokens":       func(r *Record) { r.Visits[2].Token = 2 },
		"answers":      func(r *Record) { r.Visits[0].Leave = 5*sec + 500*ms; r.Visits[0].Left = 5*sec + 600*ms },
		"own lock":     func(r *Record) { r.Visits[0].Odd = "it would have to wait for itself" },
		"maximum hold": func(r *Record) { r.Visits[0].Most = 4 * sec },
		"kept":         func(r *Record) { r.Visits[0].Ended = history.Lost },
		"handed on":    func(r *Record) { move(&r.Visits[2], 9*sec) },
		"order":        func(r *Record) { r.Visits[1].Call, r.Visits[2].Call = 2*sec, 1*sec },
		"transactions": func(r *Record) { r.Counts[3].Value = 1 },
		"nothing left": func(r *Record) { r.Left = map[string]string{"m0": "a claim"} },
		"bounds":       func(r *Record) { r.Ends[0].Goroutines = 1000 },
		"traffic":      func(r *Record) { r.Answers[0] = 1 << 30 },
	}
	for judge := range judges {
		t.Run(judge, func(t *testing.T) {
			plant, ok := plants[judge]
			if !ok {
				t.Fatal("nothing was planted for it")
			}
			r := quiet()
			plant(&r)
			found := r.Judge()
			if !slices.ContainsFunc(found, func(w Wrong) bool { return w.Judge == judge }) {
				t.Errorf("it did not find what was planted; found is %v", found)
			}
		})
	}
}

// Who is sent more because it sweeps up what others have left is excused where clients do that.
func TestSweeping(t *testing.T) {
	for _, swept := range []bool{true, false} {
		r := quiet()
		r.Swept = swept
		r.Answers[0] = r.asked(0)*r.perAnswer() + 1000*perSwept // for the hoard of 1,000
		if wrongs := r.traffic(); (len(wrongs) == 0) != swept {
			t.Errorf("swept %v: found is %v", swept, wrongs)
		}
	}
}

// Transactions that were committed are in the number, each of them once, in their order, and nothing else is.
func TestTransactions(t *testing.T) {
	for what, plant := range map[string]func(*Record){
		"nobody wrote it":     func(r *Record) { r.Counted["t0"] = 4 },
		"it was undone":       func(r *Record) { r.Counts[1].Fate = Undone },
		"it is forgotten":     func(r *Record) { r.Counted["t0"] = 2 },
		"two wrote the same":  func(r *Record) { r.Counts[2].Fate, r.Counts[2].Value = Committed, 3 },
		"the first is second": func(r *Record) { r.Counts[0].Value, r.Counts[3].Value = 3, 1 },
	} {
		r := quiet()
		plant(&r)
		if wrongs := r.transactions(); len(wrongs) != 1 {
			t.Errorf("%s: found is %v", what, wrongs)
		}
	}
}

// Of many claims of one process, none is lost without a reason, and none is granted beside another.
func TestMany(t *testing.T) {
	struck := []Struck{{Blow: Blow{Target: OnStore}, Harm: nemesis.Amnesia, Span: Span{1 * sec, 2 * sec}}}
	for judge, plant := range map[string]func(*Many){
		"kept":      func(m *Many) { m.Lost = 1 },
		"exclusion": func(m *Many) { m.Beside = 1 },
	} {
		r := quiet()
		plant(&r.Many[0])
		if wrongs := judges[judge](r); len(wrongs) != 1 {
			t.Errorf("%s: found is %v", judge, wrongs)
		}
		r.Struck = struck
		if wrongs := judges[judge](r); len(wrongs) != 0 {
			t.Errorf("%s, while the store forgot: %v", judge, wrongs)
		}
	}
}

// Two who hold permits together have tokens of their own.
func TestTokensOfPermits(t *testing.T) {
	r := quiet()
	for i := range r.Visits {
		r.Visits[i].Lock = "p0"
	}
	r.Visits[0].Token = 4 // those that hold it together are granted it in any order
	if wrongs := r.tokens(); len(wrongs) > 0 {
		t.Errorf("in any order: %v", wrongs)
	}
	r.Visits[0].Token = 2
	if wrongs := r.tokens(); len(wrongs) != 1 {
		t.Errorf("one token for two: %v", wrongs)
	}
}

// move lets a visitor get in later.
func move(v *Visit, to time.Duration) {
	later := to - v.Return
	v.Return, v.Seen, v.Leave, v.Left = v.Return+later, v.Seen+later, v.Leave+later, v.Left+later
}

// What the docs announce is not wrong: somebody broke the claim, the line of its holder was cut, the store was down or
// forgot it.
func TestExcuses(t *testing.T) {
	during := Span{4 * sec, 5 * sec}
	on := func(target Target, what string, harm nemesis.Harm) func(*Record) {
		return func(r *Record) {
			r.Struck = []Struck{{
				Blow: Blow{Target: target, What: what}, Harm: harm, Fell: during.From + ms, Span: during,
			}}
		}
	}
	lost := func(r *Record) { r.Visits[0].Ended = history.Lost }
	shortened := func(r *Record) {
		lost(r)
		r.Visits[0].Most = 4900 * ms
	}
	overstayed := func(r *Record) { r.Visits[0].Most = 4500 * ms }
	within := func(r *Record) { r.Visits[0].Least = 6 * sec } // another is inside before that is over
	idle := func(r *Record) {
		move(&r.Visits[1], 8*sec)
		move(&r.Visits[2], 10*sec)
		r.Visits[2].Call = 9 * sec
	}
	refused := func(r *Record) { // long after the wait for the grant began, and soon after the release
		try := visit(0, 0, 7*sec+50*ms, 7*sec+60*ms, 0)
		try.Try, try.Outcome = true, history.Taken
		r.Visits = append(r.Visits, try)
	}
	nothing := func(*Record) {}
	stalled := func(r *Record) { r.Stalls = []Stall{{0, during}} }
	overlap := func(r *Record) {
		r.Visits[1].Return = 4*sec + 500*ms
		lost(r)
	}
	after := func(r *Record) { // of two who came when the store had been struck
		r.Visits[0] = visit(0, 1, 0, 10*ms, 1*sec)
		r.Visits[1] = visit(1, 2, 4300*ms, 4400*ms, 4900*ms)
		r.Visits[2] = visit(2, 3, 4300*ms, 4500*ms, 4950*ms)
	}
	late := func(r *Record) {
		r.Voted = true
		move(&r.Visits[0], 5*sec+500*ms)
		r.Visits[0].Seen, r.Visits[0].Leave, r.Visits[0].Left = 5*sec+510*ms, 5*sec+510*ms, 5*sec+520*ms
		lost(r)
	}
	released := func(r *Record) { // soon after the grant, and the answer took a while
		v := &r.Visits[0]
		v.Ended, v.Seen, v.Leave, v.Left = history.Lost, v.Return+10*ms, v.Return+10*ms, v.Return+200*ms
	}
	for name, c := range map[string]struct {
		plant, excuse func(*Record)
		excused       bool
	}{
		"lost, its line was cut":                {lost, on(OnLine, "black hole", 0), true},
		"lost, another's line was cut":          {lost, anothers(on(OnLine, "reset", 0)), false},
		"lost, the store was down":              {lost, on(OnStore, nemesis.Kill, nemesis.Outage), true},
		"lost, one server of many was down":     {lost, on(OnStore, nemesis.Kill, nemesis.Nothing), false},
		"lost, the machine stood still":         {lost, func(r *Record) { r.Stalls = []Stall{{nobody, during}} }, true},
		"lost, another's process stood still":   {lost, func(r *Record) { r.Stalls = []Stall{{1, during}} }, false},
		"lost, a server forgot it meanwhile":    {released, young(100 * ms), true},
		"lost, a server forgot later":           {released, young(300 * ms), false},
		"two inside, the store forgot":          {overlap, on(OnStore, nemesis.Empty, nemesis.Amnesia), true},
		"two inside, a server forgot the young": {overlap, young(0), true},
		"two inside, a server forgot, too late": {overlap, young(1900 * ms), false},
		"two inside, the store had forgotten":   {after, on(OnStore, nemesis.Empty, nemesis.Amnesia), false},
		"two inside, told of it late":           {after, heldUp(on(OnStore, nemesis.Empty, nemesis.Amnesia)), true},
		"two inside, the store was down":        {overlap, on(OnStore, nemesis.Kill, nemesis.Outage), false},
		"two inside, its connection ended":      {overlap, inSession(on(OnLine, "reset", 0)), true},
		"two inside, another's connection did":  {overlap, inSession(anothers(on(OnLine, "reset", 0))), false},
		"two inside, the claim was broken":      {overlap, broken(1), true},
		"two inside, another one was broken":    {overlap, broken(7), false},
		"two inside, a waiting one was broken":  {overlap, brokenFrom(5*ms, 0), true},
		"two inside, one that came was broken":  {overlap, brokenFrom(50*ms, 0), false},
		"told late, the claim was broken":       {late, brokenFrom(4900*ms, 1), true},
		"told late, another one was broken":     {late, brokenFrom(4900*ms, 7), false},
		"lost, its maximum hold was over":       {shortened, nothing, true},
		"beyond its maximum hold, line was cut": {overstayed, on(OnLine, "black hole", 0), false},
		"beyond its maximum hold, stood still":  {overstayed, stalled, true},
		"in a minimum hold":                     {within, nothing, false},
		"in a minimum hold, line was cut":       {within, on(OnLine, "black hole", 0), true},
		"idle":                                  {idle, nothing, false},
		"idle, a minimum hold":                  {idle, func(r *Record) { r.Visits[0].Least = 7500 * ms }, true},
		"refused in a minimum hold":             {refused, func(r *Record) { r.Visits[2].Least = 1100 * ms }, true},
		"refused without one":                   {refused, nothing, false},
		"refused, released just before its end": {refused, func(r *Record) { r.Visits[2].Least = 980*ms + ms/2 }, true},
		"idle, the waiter asked for others":     {idle, func(r *Record) { r.Visits[1].Together = true }, true},
		"idle, the claim before had a long TTL": {idle, unclear(2 * sec), true},
		"told late, the store forgot before":    {late, on(OnStore, nemesis.Empty, nemesis.Amnesia), false},
		"together, the store forgot before":     {late, together(on(OnStore, nemesis.Empty, nemesis.Amnesia)), true},
		"two inside, the holder's line was cut": {overlap, on(OnLine, "black hole", 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := quiet()
			c.plant(&r)
			c.excuse(&r)
			if found := r.Judge(); (len(found) == 0) != c.excused {
				t.Errorf("excused should be %v; found is %v", c.excused, found)
			}
		})
	}
}

// young says that a server forgot what was granted in the TTL before; the span begins later by this.
func young(later time.Duration) func(*Record) {
	return func(r *Record) {
		at := r.Visits[0].Return + later
		r.Struck = []Struck{{Blow: Blow{Target: OnStore, What: nemesis.ClockForward}, Young: true,
			Fell: at + ms, Span: Span{at, at + ms}}}
	}
}

// anothers is a blow to another visitor.
func anothers(blow func(*Record)) func(*Record) {
	return func(r *Record) {
		blow(r)
		r.Struck[0].Number = 1
	}
}

// heldUp says that the second visitor was stopped during a blow to the store.
func heldUp(blow func(*Record)) func(*Record) {
	return func(r *Record) {
		blow(r)
		stop := Blow{Target: OnVisitor, Number: 1, What: Stop}
		r.Struck = append(r.Struck, Struck{Blow: stop, Span: r.Struck[0].Span})
	}
}

// broken says that somebody broke the claim with this token at 4 s.
func broken(token uint64) func(*Record) { return brokenFrom(4*sec, token) }

// brokenFrom says when.
func brokenFrom(call time.Duration, token uint64) func(*Record) {
	return func(r *Record) {
		r.Breaks = []Breaking{{Lock: "m0", Token: token, Call: call, Return: call + 20*ms}}
	}
}

// inSession is an excuse where locks are connections.
func inSession(excuse func(*Record)) func(*Record) {
	return func(r *Record) {
		r.Session = true
		excuse(r)
	}
}

// together is an excuse of somebody who asked for other locks as well.
func together(excuse func(*Record)) func(*Record) {
	return func(r *Record) {
		r.Visits[0].Together = true
		excuse(r)
	}
}

// unclear says that nobody knows how the first visit ended, and that its claim had this TTL.
func unclear(ttl time.Duration) func(*Record) {
	return func(r *Record) { r.Visits[0].Ended, r.Visits[0].TTL = history.Unclear, ttl }
}
