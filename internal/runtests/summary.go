package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A summary counts tests and subtests by what became of them.
type summary struct {
	passed, failed int
	skipped        map[string]int // by the reason
}

// skips is the line with the reason, as a test prints it before it ends.
var skips = regexp.MustCompile(`^\s+\S+\.go:\d+: (.+)`)

// add counts a test that has ended, having printed this. An attempt that runs again is none.
func (s *summary) add(how string, printed []string) {
	switch how {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
	case "skip":
		if why := reason(printed); !strings.Contains(why, givenUp) {
			s.skipped[why]++
		}
	}
}

func reason(printed []string) string {
	for _, line := range slices.Backward(printed) {
		if found := skips.FindStringSubmatch(line); found != nil {
			return general(found[1])
		}
	}
	return "without a reason"
}

// forEffort is the reason of a test that package effort skips; the command that runs it is in it.
var forEffort = regexp.MustCompile(`^(?:long|soak): (make \S+)`)

// general is the part of a reason that tests have in common.
func general(why string) string {
	if found := forEffort.FindStringSubmatch(why); found != nil {
		return "for " + found[1]
	}
	return why
}

// print prints the counts, and the reasons for skips, the most frequent first. Those of package effort come last: these
// tests have another command.
func (s *summary) print(w io.Writer) {
	fmt.Fprintf(w, "%d tests and subtests ran, %d of them failed; ", s.passed+s.failed, s.failed)
	all := 0
	for _, n := range s.skipped {
		all += n
	}
	fmt.Fprintf(w, "%d were skipped\n", all)
	other := func(why string) int {
		if strings.HasPrefix(why, "for make ") {
			return 1
		}
		return 0
	}
	for _, why := range slices.SortedFunc(maps.Keys(s.skipped), func(a, b string) int {
		return cmp.Or(other(a)-other(b), s.skipped[b]-s.skipped[a], strings.Compare(a, b))
	}) {
		fmt.Fprintf(w, "  %5d skipped: %s\n", s.skipped[why], why)
	}
}
