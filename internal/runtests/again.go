package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A suspect is a package of which tests failed while the machine was so busy that this may be the reason.
type suspect struct {
	name  string
	tests []string // those that failed
	slow  float64  // how busy the machine was
}

// guilty are the words of failures that no busy machine explains.
var guilty = []string{
	"DATA RACE", "race detected", "panic: ", "fatal error: ", "SIGSEGV", "ThreadSanitizer", "did not end:",
}

// An outcome is what became of a package.
type outcome struct {
	began    time.Time
	tests    map[string]bool // those at the top that failed
	guilty   bool            // something failed that no busy machine explains
	repeated bool            // package pace has repeated a test, because the machine stalled
	slow     float64
	failed   bool
}

// givenUp is what package pace says when it gives an attempt up.
const givenUp = "this shows nothing, and runs again with longer times"

// ownTests ends the path of package pace, whose own tests stage stalls.
const ownTests = "/internal/pace"

// hear notes what a line of output tells of the package, whatever failed.
func (r *report) hear(at place, output string) {
	if _, why, ok := strings.Cut(output, givenUp+": "); ok && !strings.HasSuffix(at.Package, ownTests) {
		r.of(at.Package).repeated = true
		r.tellRepeat(shortName(at.Package) + " " + at.Test + ": " + strings.TrimSpace(why))
	}
}

// shows notes what a failure says.
func (o *outcome) shows(text string) {
	o.guilty = o.guilty || slices.ContainsFunc(guilty, func(w string) bool { return strings.Contains(text, w) })
}

// fails notes that a test failed. What runs again is the test at the top with all that it runs.
func (o *outcome) fails(test string) {
	top, _, _ := strings.Cut(test, "/")
	o.tests[top] = true
}

// ends notes that the package failed, and how busy the machine was meanwhile.
func (o *outcome) ends(l *load) {
	o.failed, o.slow = true, l.since(o.began)
}

// excusable reports whether the machine may be why the package failed.
func (o *outcome) excusable() bool {
	return o.failed && !o.guilty && len(o.tests) > 0 && (o.slow >= busy || o.repeated)
}

// suspects are the packages that may have failed because the machine was busy.
func (r *report) suspects() []suspect {
	var list []suspect
	for name, o := range r.outcomes {
		if o.excusable() {
			list = append(list, suspect{name, slices.Sorted(maps.Keys(o.tests)), o.slow})
		}
	}
	slices.SortFunc(list, func(a, b suspect) int { return strings.Compare(a.name, b.name) })
	return list
}

// repeats is how often what failed runs again at most: what else keeps the machine busy may go on.
const repeats = 2

// repeat runs what failed on a busy machine again, each package by itself, and reports whether all passes. What fails
// each time has failed.
func (r *report) repeat(flags []string) bool {
	for _, s := range r.suspects() {
		fmt.Fprintf(r.talk, "%s failed while work took %.1f times as long as alone on a processor; "+
			"these run again, by themselves: %s\n", shortName(s.name), s.slow, strings.Join(s.tests, " "))
		r.tellRepeat(s.String() + ": " + r.howOften(flags, s))
	}
	return len(r.failed) == 0
}

// String names what runs again.
func (s suspect) String() string { return shortName(s.name) + " " + strings.Join(s.tests, " ") }

// howOften runs a suspect again until it passes, at most so often, and says how that ended.
func (r *report) howOften(flags []string, s suspect) string {
	for n := range repeats {
		if r.again(flags, s) {
			r.forgive(s)
			return fmt.Sprintf("failed on the busy machine, and passed by itself in run %d", n+1)
		}
	}
	return "failed on the busy machine, and each time by itself"
}

// again runs the tests of one package that failed, and reports whether they pass.
func (r *report) again(flags []string, s suspect) bool {
	cmd := exec.Command("go", s.args(flags)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false
	}
	cmd.Stderr = r.talk
	if err := cmd.Start(); err != nil {
		return false
	}
	second := newReport(io.Discard, r.talk, 1)
	each(out, second.line)
	for _, f := range second.failures {
		r.fail(s.name, f.text)
	}
	r.repeated = append(r.repeated, second.repeated...)
	return cmd.Wait() == nil
}

// args are those of go test for what failed.
func (s suspect) args(flags []string) []string {
	names := make([]string, len(s.tests))
	for i, t := range s.tests {
		names[i] = regexp.QuoteMeta(t)
	}
	only := "^(" + strings.Join(names, "|") + ")$"
	return slices.Concat([]string{"test", "-json"}, flags, []string{"-run", only, "-count=1", "-p", "1", s.name})
}

// forgive takes the failures of a package back.
func (r *report) forgive(s suspect) {
	r.failures = slices.DeleteFunc(r.failures, func(f failure) bool { return f.Package == s.name })
	r.failed = slices.DeleteFunc(r.failed, func(f failure) bool { return f.Package == s.name })
	r.say(fmt.Sprintf("ok  \t%s\tby itself; on the busy machine failed: %s", s.name, strings.Join(s.tests, " ")))
}

// isFailure reports whether go test says by its exit code that tests failed, and nothing worse.
func isFailure(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 1
}
