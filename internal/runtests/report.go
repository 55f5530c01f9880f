package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// An event is a line of go test -json; see "go doc test2json".
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string // of what is built
}

// A place is where output belongs. The zero Test is the package itself.
type place struct{ Package, Test string }

// A report turns events into what people read. It is for one goroutine.
type report struct {
	out, talk io.Writer
	total     int
	began     time.Time
	spoke     time.Time // when the last line was written

	load     *load               // nil: nothing is known of the machine
	output   map[place][]string  // of what has not ended yet
	running  []string            // packages
	outcomes map[string]*outcome // of packages
	ended    int
	failed   []failure // the lines of packages
	failures []failure // in full
	repeated []string  // what ran again, and why, in a line each
	summary  summary

	made, told count             // what was compiled, and what of that was told
	complaints map[string]string // of compilers, by what they compile
}

// A failure is what is shown of something that failed.
type failure struct{ Package, text string }

func newReport(out, talk io.Writer, total int) *report {
	r := &report{
		out: out, talk: talk, total: total, began: time.Now(), spoke: time.Now(),
		output: make(map[place][]string), outcomes: make(map[string]*outcome),
		summary: summary{skipped: make(map[string]int)}, complaints: make(map[string]string),
	}
	fmt.Fprintf(talk, "testing %d packages\n", total)
	return r
}

// line reports one line of go test -json. What is no event is shown as it is.
func (r *report) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		r.say(line)
		return
	}
	at := place{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		r.build(e)
	case "build-fail":
		r.buildFailed(e)
	case "start":
		r.running = append(r.running, e.Package)
		r.of(e.Package).began = time.Now()
	case "output":
		r.hear(at, e.Output)
		if !isNoise(e.Output) {
			r.output[at] = append(r.output[at], e.Output)
		}
	case "pass", "skip", "fail":
		r.end(e.Action, at)
	}
}

// isNoise reports whether a line tells that a test began or goes on.
func isNoise(line string) bool {
	for _, mark := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

func (r *report) end(how string, at place) {
	if at.Test == "" {
		r.endPackage(how, at.Package)
		return
	}
	r.summary.add(how, r.output[at])
	if how == "fail" {
		r.of(at.Package).fails(at.Test)
		r.fail(at.Package, fmt.Sprintf("%s %s:\n%s", at.Package, at.Test, r.take(at)))
	}
	delete(r.output, at)
}

// endPackage shows the line of a package, and of one that failed also what it printed outside of tests, and in
// tests that never ended.
func (r *report) endPackage(how, name string) {
	r.running = slices.DeleteFunc(r.running, func(n string) bool { return n == name })
	printed := r.output[place{Package: name}]
	delete(r.output, place{Package: name})
	for at := range r.output {
		if at.Package == name {
			r.fail(name, fmt.Sprintf("%s %s did not end:\n%s", name, at.Test, r.take(at)))
		}
	}
	last := "FAIL\t" + name + "\n"
	if n := len(printed); n > 0 {
		last, printed = printed[n-1], printed[:n-1]
	}
	if how == "fail" {
		r.fail(name, strings.Join(printed, ""))
		r.failed = append(r.failed, failure{name, last})
		r.of(name).ends(r.load)
	}
	r.ended++
	r.say(last)
	r.progress()
}

// take returns what was printed there, and forgets it.
func (r *report) take(at place) string {
	defer delete(r.output, at)
	return strings.Join(r.output[at], "")
}

// of returns what is known of a package.
func (r *report) of(name string) *outcome {
	if r.outcomes[name] == nil {
		r.outcomes[name] = &outcome{began: time.Now(), tests: make(map[string]bool)}
	}
	return r.outcomes[name]
}

// fail shows a failure, and keeps it for the end.
func (r *report) fail(name, text string) {
	if strings.TrimSpace(text) == "" || text == "FAIL\n" {
		return
	}
	r.of(name).shows(text)
	r.failures = append(r.failures, failure{name, text})
	r.say(text)
}

func (r *report) say(text string) {
	r.spoke = time.Now()
	fmt.Fprintln(r.out, strings.TrimSuffix(text, "\n"))
}

// progress says how far it is.
func (r *report) progress() {
	r.spoke = time.Now()
	short := make([]string, len(r.running))
	for i, name := range r.running {
		short[i] = shortName(name)
	}
	now := ""
	if len(short) > 0 {
		now = "; running " + strings.Join(short, ", ")
	}
	if r.made != r.told {
		now += "; " + r.made.String()
		r.told = r.made
	}
	fmt.Fprintf(r.talk, "  %d of %d packages, %v%s\n", r.ended, r.total, time.Since(r.began).Round(time.Second), now)
}

// shortName is what follows the owner and the name of the repository.
func shortName(name string) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[min(2, len(parts)-1):], "/")
}

// tellRepeat tells that something runs again, and keeps that for the end.
func (r *report) tellRepeat(what string) {
	r.repeated = append(r.repeated, what)
	r.say("again\t" + what)
}

// close shows all failures again, and which packages they are in, and then what ran again.
func (r *report) close() {
	fmt.Fprintf(r.talk, "%d packages in %v", r.ended, time.Since(r.began).Round(time.Second))
	if slow := r.load.since(r.began); slow > 0 {
		fmt.Fprintf(r.talk, ", while work took %.1f times as long as alone on a processor", slow)
	}
	fmt.Fprintln(r.talk)
	r.summary.print(r.talk)
	if len(r.failures) > 0 {
		fmt.Fprintf(r.out, "\nAll failures again:\n\n%s\n%sFAIL\n", texts(r.failures, "\n"), texts(r.failed, ""))
	}
	if len(r.repeated) > 0 {
		list := strings.Join(r.repeated, "\n  ")
		fmt.Fprintf(r.talk, "\nThese ran again, because the machine was busy:\n  %s\n", list)
	}
}

func texts(list []failure, between string) string {
	all := make([]string, len(list))
	for i, f := range list {
		all[i] = f.text
	}
	return strings.Join(all, between)
}
