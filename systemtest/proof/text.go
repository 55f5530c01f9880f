package proof

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

// heading is the first line of a schedule. Its number grows when an older program would misread what follows.
const heading = "holdfast schedule 1"

// careless is the line of a schedule whose visitors do not look at their leases.
const careless = "careless"

// String is the schedule as text, which [Parse] reads:
//
//	holdfast schedule 1
//	store redis
//	seed 17
//	ttl 2s
//	lasts 20s
//	visitor 0
//	  lock m0 units 1 within 3s stays 12ms
//	  try p0 units 2 within 0s stays 1ms
//	at 1.5s for 300ms store: kill
//	at 4s for 2s line 0: black hole
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nstore %s\nseed %d\nttl %v\nlasts %v\n", heading, s.Store, s.Seed, s.TTL, s.Lasts)
	if s.Careless {
		fmt.Fprintln(&b, careless)
	}
	for i, steps := range s.Visitors {
		fmt.Fprintf(&b, "visitor %d\n", i)
		for _, step := range steps {
			fmt.Fprintf(&b, "  %v\n", step)
		}
	}
	for _, blow := range s.Blows {
		fmt.Fprintln(&b, blow)
	}
	return b.String()
}

func (s Step) String() string {
	text := fmt.Sprintf("%s %s units %d within %v stays %v", s.Verb, s.Lock, s.Units, s.Within, s.Stays)
	return text + s.optionsText()
}

func (b Blow) String() string {
	return fmt.Sprintf("at %v for %v %s: %s", b.At, b.For, b.whom(), b.What)
}

func (b Blow) whom() string {
	if b.Target == OnStore {
		return string(OnStore)
	}
	return fmt.Sprintf("%s %d", b.Target, b.Number)
}

// Parse reads a schedule. Lines that are empty or begin with # say nothing.
func Parse(r io.Reader) (s Schedule, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if n == 1 {
			if line != heading {
				return s, fmt.Errorf("line 1 is %q, want %q", line, heading)
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if err := s.read(line); err != nil {
			return s, fmt.Errorf("line %d, %q: %w", n, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return s, err
	}
	return s, s.check()
}

// read reads one line.
func (s *Schedule) read(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "store":
		s.Store = rest
	case "seed":
		s.Seed, err = strconv.ParseUint(rest, 10, 64)
	case "ttl":
		s.TTL, err = time.ParseDuration(rest)
	case "lasts":
		s.Lasts, err = time.ParseDuration(rest)
	case careless:
		s.Careless = true
	case "visitor":
		if rest != strconv.Itoa(len(s.Visitors)) {
			return fmt.Errorf("the next is visitor %d", len(s.Visitors))
		}
		s.Visitors = append(s.Visitors, nil)
	case "at":
		var b Blow
		b, err = parseBlow(line)
		s.Blows = append(s.Blows, b)
	default:
		if len(s.Visitors) == 0 {
			return fmt.Errorf("a step of no visitor")
		}
		var step Step
		step, err = parseStep(line)
		last := len(s.Visitors) - 1
		s.Visitors[last] = append(s.Visitors[last], step)
	}
	return err
}

func parseStep(line string) (s Step, err error) {
	words := strings.Fields(line)
	if len(words) < 8 || words[2] != "units" || words[4] != "within" || words[6] != "stays" {
		return s, fmt.Errorf("a step looks like %q", Step{Verb: Lock, Lock: "m0", Units: 1, Within: time.Second})
	}
	s.Verb, s.Lock = Verb(words[0]), words[1]
	if s.Units, err = strconv.ParseInt(words[3], 10, 64); err != nil {
		return s, err
	}
	if s.Within, err = time.ParseDuration(words[5]); err != nil {
		return s, err
	}
	if s.Stays, err = time.ParseDuration(words[7]); err != nil {
		return s, err
	}
	if err := s.readOptions(words[8:]); err != nil {
		return s, err
	}
	return s, s.check()
}

// check says what is wrong with the step.
func (s Step) check() error {
	for _, lock := range s.locks() {
		if !slices.Contains(verbs, s.Verb) || lock == "" || limit(lock) == 0 {
			return fmt.Errorf("nobody knows how to %s %s", s.Verb, s.Lock)
		}
		if err := s.Verb.checkName(lock); err != nil {
			return err
		}
		if s.Verb.onMutexes() && limit(lock) != 1 {
			return fmt.Errorf("mutexes alone are there to %s: %s is none", s.Verb, lock)
		}
		if s.Units < 1 || s.Units > limit(lock) {
			return fmt.Errorf("%s has %d units", lock, limit(lock))
		}
	}
	switch {
	case s.Verb != All && len(s.locks()) > 1:
		return fmt.Errorf("several locks are there to %s, not to %s", All, s.Verb)
	case s.Times < 0:
		return fmt.Errorf("%d is how often nothing can be done", s.Times)
	case s.Many < 0, s.Many > 0 != s.Verb.isMany(), s.Dies && !s.Verb.isMany():
		return fmt.Errorf("many, with a number, and dies are there to %s and to %s", Hoard, Queue)
	case s.options() != nil && !s.Verb.hasOptions(), s.Pass && !s.Verb.hasOptions():
		return fmt.Errorf("%s takes no options", s.Verb)
	case s.options() != nil && s.Pass:
		return errors.New("who goes on with a lock has none of its other options: pass must be alone")
	}
	return nil
}

// checkName says what is wrong with the name of a lock of this verb.
func (v Verb) checkName(lock string) error {
	for verb, letter := range ownNames {
		if (v == verb) != (lock[0] == letter) {
			return fmt.Errorf("names to %s, and no others, begin with %c: %s is none to %s", verb, letter, lock, v)
		}
	}
	return nil
}

func parseBlow(line string) (b Blow, err error) {
	when, what, ok := strings.Cut(line, ": ")
	words := strings.Fields(when)
	if !ok || len(words) < 5 || words[2] != "for" {
		return b, fmt.Errorf("a blow looks like %q", Blow{time.Second, time.Second, OnLine, 0, "black hole"})
	}
	b.What, b.Target = what, Target(words[4])
	if b.At, err = time.ParseDuration(words[1]); err != nil {
		return b, err
	}
	if b.For, err = time.ParseDuration(words[3]); err != nil {
		return b, err
	}
	if b.Target != OnStore {
		if len(words) != 6 {
			return b, fmt.Errorf("it does not say which %s", b.Target)
		}
		b.Number, err = strconv.Atoi(words[5])
	}
	return b, err
}

// check says what is wrong with the schedule as a whole.
func (s Schedule) check() error {
	if _, ok := nemesis.Named(s.Store); !ok {
		return fmt.Errorf("there is no store %q", s.Store)
	}
	if s.TTL <= 0 || s.Lasts <= 0 || len(s.Visitors) == 0 {
		return fmt.Errorf("it needs a TTL, a length and visitors")
	}
	for i, steps := range s.Visitors {
		if len(steps) == 0 {
			return fmt.Errorf("visitor %d does nothing", i)
		}
	}
	for _, b := range s.Blows {
		if err := s.checkBlow(b); err != nil {
			return fmt.Errorf("%v: %w", b, err)
		}
	}
	return nil
}

func (s Schedule) checkBlow(b Blow) error {
	known := map[Target]bool{
		OnStore:   slices.Contains(nemesis.Names, b.What),
		OnLine:    lineFaults[b.What] != nil,
		OnVisitor: b.What == Stop || b.What == Death,
	}
	switch {
	case !known[b.Target]:
		return fmt.Errorf("nothing like that befalls a %s", b.Target)
	case b.Number < 0 || b.Number >= len(s.Visitors):
		return fmt.Errorf("there are %d visitors", len(s.Visitors))
	}
	return nil
}
