package proof

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/foreign"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// example is a store that nobody starts, with a fault.
var example = &nemesis.Store{
	Name: "redis", TTL: 2 * time.Second, Addrs: []string{"nowhere:1"}, Faults: []nemesis.Fault{{Name: nemesis.Kill}},
	Database: func([]string) nemesis.Database { return nemesis.Database{} },
	Peers:    []foreign.Program{{Name: "somebody"}},
}

// A schedule is the same after it was written and read.
func TestText(t *testing.T) {
	for seed := range uint64(200) {
		s := Draw(seed, example, long)
		again, err := Parse(strings.NewReader(s.String()))
		if err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, s)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("seed %d: written\n%v\nread\n%v", seed, s, again)
		}
	}
}

// A seed gives one schedule.
func TestDrawnAgain(t *testing.T) {
	if a, b := Draw(7, example, usual), Draw(7, example, usual); !reflect.DeepEqual(a, b) {
		t.Errorf("%v\nand\n%v", a, b)
	}
}

// Once a store has forgotten its tokens, its clock is not set back: of those that come then nobody promises that they
// grow. Until then it is.
func TestClockAfterForgetting(t *testing.T) {
	store := *example
	store.Faults = []nemesis.Fault{{Name: nemesis.Empty, Forgets: true}, {Name: nemesis.ClockBack}}
	before := 0
	for seed := range uint64(200) {
		forgot := false
		for _, b := range Draw(seed, &store, long).Blows {
			switch {
			case b.What == nemesis.Empty:
				forgot = true
			case b.What == nemesis.ClockBack && forgot:
				t.Fatalf("seed %d: set back at %v, after it forgot", seed, b.At)
			case b.What == nemesis.ClockBack:
				before++
			}
		}
	}
	if before == 0 {
		t.Error("the clock was never set back")
	}
}

// What nobody could follow is refused, with its line.
func TestParseErrors(t *testing.T) {
	const head = heading + "\nstore redis\nttl 2s\nlasts 1s\nvisitor 0\n"
	const step = "lock m0 units 1 within 1s stays 1ms\n"
	for text, want := range map[string]string{
		"holdfast schedule 9\n": "line 1",
		head:                    "visitor 0 does nothing",
		heading + "\n" + step:   "a step of no visitor",
		head + "visitor 3\n":    "the next is visitor 1",
		head + "sing m0 units 1 within 1s stays 1ms": "nobody knows how to sing",
		head + "lock x0 units 1 within 1s stays 1ms": "nobody knows how to lock x0",
		head + "lock p0 units 9 within 1s stays 1ms": "p0 has 3 units",
		head + "lock m0": "a step looks like",
		head + "foreign r0 units 1 within 1s stays 1ms":            "mutexes alone",
		head + "foreign m0 units 1 within 1s stays 1ms again":      "takes no options",
		head + "lead r0 units 1 within 1s stays 1ms":               "mutexes alone",
		head + "lock m0+m1 units 1 within 1s stays 1ms":            "several locks",
		head + "lock t0 units 1 within 1s stays 1ms":               "begin with t",
		head + "transact m0 units 1 within 1s stays 1ms":           "begin with t",
		head + "hoard m0 units 1 within 1s stays 1ms many 9":       "begin with h",
		head + "lock q0 units 1 within 1s stays 1ms":               "begin with q",
		head + "queue q0 units 1 within 1s stays 1ms":              "many, with a number",
		head + "lock m0 units 1 within 1s stays 1ms dies":          "are there to hoard",
		head + "all m0+ units 1 within 1s stays 1ms":               "nobody knows how to all",
		head + "lock m0 units 1 within 1s stays 1ms loudly":        `"loudly" is no option`,
		head + "lock m0 units 1 within 1s stays 1ms times":         "lacks its",
		head + "lock m0 units 1 within 1s stays 1ms times -1":      "how often nothing",
		head + "lock m0 units 1 within 1s stays 1ms least":         "lacks its value",
		head + "lock m0 units 1 within 1s stays 1ms ttl 2x":        "2x",
		head + "break m0 units 1 within 1s stays 1ms ttl 2s":       "takes no options",
		head + "all m0+m1 units 1 within 1s stays 1ms pass":        "takes no options",
		head + "lock m0 units 1 within 1s stays 1ms least 1s pass": "pass must be alone",
		head + step + "at 1s for 1s line 7: reset":                 "there are 1 visitors",
		head + step + "at 1s for 1s line: reset":                   "which line",
		head + step + "at 1s for 1s visitor 0: sing":               "nothing like that",
		head + step + "at 1s":                                      "a blow looks like",
		strings.Replace(head, "redis", "paper", 1) + step:          `no store "paper"`,
		strings.Replace(head, "ttl 2s", "ttl 2x", 1) + step:        "line 3",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want %q", text, err, want)
		}
	}
}

// A schedule is made as small as what is wrong with it allows.
func TestMinimise(t *testing.T) {
	s := Draw(3, example, long)
	guilty := s.Visitors[5][7]
	guilty.Stays = time.Hour // unlike all others
	s.Visitors[5][7] = guilty
	s.Blows = append(s.Blows, Blow{At: time.Second, For: time.Second, Target: OnLine, Number: 5, What: "reset"})
	wrong := func(s Schedule) bool {
		does := slices.IndexFunc(s.Visitors, func(steps []Step) bool { return slices.Contains(steps, guilty) })
		return slices.ContainsFunc(s.Blows, func(b Blow) bool {
			return b.Target == OnLine && b.Number == does && b.What == "reset"
		})
	}
	small := minimise(s, wrong)
	if len(small.Visitors) != 1 || len(small.Visitors[0]) != 1 || len(small.Blows) != 1 || !wrong(small) {
		t.Errorf("the smallest is\n%v", small)
	}
}
