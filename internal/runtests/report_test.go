package main

import (
	"bufio"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/bubble"
)

func TestMain(m *testing.M) { bubble.Main(m) }

// shown returns what is printed for these lines of go test -json.
func shown(t *testing.T, lines string) (out, talk string) {
	t.Helper()
	var o, p strings.Builder
	r := newReport(&o, &p, 3)
	for line := range strings.Lines(lines) {
		r.line(line)
	}
	r.close()
	return o.String(), p.String()
}

const passes = `{"Action":"start","Package":"a.org/us/all/one"}
{"Action":"run","Package":"a.org/us/all/one","Test":"TestA"}
{"Action":"output","Package":"a.org/us/all/one","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"a.org/us/all/one","Test":"TestA","Output":"    a_test.go:3: nobody asked\n"}
{"Action":"pass","Package":"a.org/us/all/one","Test":"TestA"}
{"Action":"output","Package":"a.org/us/all/one","Output":"PASS\n"}
{"Action":"output","Package":"a.org/us/all/one","Output":"ok  \ta.org/us/all/one\t1.5s\n"}
{"Action":"pass","Package":"a.org/us/all/one"}
`

const fails = `{"Action":"start","Package":"a.org/us/all/two"}
{"Action":"output","Package":"a.org/us/all/two","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"a.org/us/all/two","Test":"TestB","Output":"    b_test.go:3: got 1, want 2\n"}
{"Action":"output","Package":"a.org/us/all/two","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}
{"Action":"fail","Package":"a.org/us/all/two","Test":"TestB"}
{"Action":"output","Package":"a.org/us/all/two","Test":"TestC","Output":"panic: oh\n"}
{"Action":"output","Package":"a.org/us/all/two","Output":"FAIL\n"}
{"Action":"output","Package":"a.org/us/all/two","Output":"FAIL\ta.org/us/all/two\t0.5s\n"}
{"Action":"fail","Package":"a.org/us/all/two"}
`

func TestPass(t *testing.T) {
	out, talk := shown(t, passes)
	if want := "ok  \ta.org/us/all/one\t1.5s\n"; out != want {
		t.Errorf("printed\n%s, want\n%s", out, want)
	}
	if !strings.Contains(talk, "1 of 3 packages, ") {
		t.Errorf("told %q", talk)
	}
}

// A failure is shown when it happens, and again at the end.
func TestFail(t *testing.T) {
	out, _ := shown(t, fails+passes)
	for _, want := range []string{"b_test.go:3: got 1, want 2", "panic: oh", "--- FAIL: TestB"} {
		if n := strings.Count(out, want); n != 2 {
			t.Errorf("%q is shown %d times, want 2:\n%s", want, n, out)
		}
	}
	if strings.Contains(out, "nobody asked") || strings.Contains(out, "=== RUN") {
		t.Errorf("shows what passes:\n%s", out)
	}
	at, again := strings.Index(out, "got 1"), strings.Index(out, "All failures again")
	first := strings.Index(out, "ok  \ta.org")
	if at > first || again < first {
		t.Errorf("not when it happened, or not at the end:\n%s", out)
	}
	if end := "\nFAIL\ta.org/us/all/two\t0.5s\nFAIL\n"; !strings.HasSuffix(out, end) {
		t.Errorf("does not end with\n%s:\n%s", end, out)
	}
}

const givesUp = `{"Action":"start","Package":"a.org/us/all/one"}
{"Action":"run","Package":"a.org/us/all/one","Test":"TestA/far"}
{"Action":"output","Package":"a.org/us/all/one","Test":"TestA/far","Output":"    a_test.go:3: this shows nothing, and runs again ` +
	`with longer times: it stalled\n"}
{"Action":"output","Package":"a.org/us/all/one","Test":"TestA/far","Output":"--- SKIP: TestA/far (0.00s)\n"}
{"Action":"skip","Package":"a.org/us/all/one","Test":"TestA/far"}
`

// An attempt that is repeated is told in one line when that happens, and in a list at the end.
func TestRepeatedAttempt(t *testing.T) {
	out, talk := shown(t, givesUp+passes)
	if want := "again\tall/one TestA/far: it stalled\n"; !strings.HasPrefix(out, want) {
		t.Errorf("printed\n%s, want first\n%s", out, want)
	}
	const list = "\nThese ran again, because the machine was busy:\n  all/one TestA/far: it stalled\n"
	if !strings.HasSuffix(talk, list) {
		t.Errorf("told\n%s, want at the end\n%s", talk, list)
	}
}

// What cannot be compiled, and what is no event, is shown.
func TestOddLines(t *testing.T) {
	out, _ := shown(t, `{"ImportPath":"x","Action":"build-output","Output":"x.go:1: nonsense\n"}`+"\ngo: no such "+
		"thing\n")
	if strings.Count(out, "nonsense") != 2 || !strings.Contains(out, "go: no such thing\n") {
		t.Errorf("printed\n%s", out)
	}
}

// While nothing ends, it says what runs.
func TestLongSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, talk strings.Builder
		r := newReport(&out, &talk, 1)
		events := make(chan string)
		go func() {
			events <- `{"Action":"start","Package":"a.org/us/all/one"}`
			time.Sleep(quiet + time.Second)
			close(events)
		}()
		follow(r, events)
		if want := "testing 1 packages\n  0 of 1 packages, 30s; running all/one\n"; talk.String() != want {
			t.Errorf("told %q, want %q", &talk, want)
		}
	})
}

func TestLines(t *testing.T) {
	var got []string
	for line := range lines(bufio.NewReader(strings.NewReader("a\n\nb"))) {
		got = append(got, line)
	}
	if strings.Join(got, "|") != "a\n|\n|b" {
		t.Errorf("%q", got)
	}
}

func TestSplit(t *testing.T) {
	flags, packages, err := split([]string{"-race", "-p", "3", "--", "./a", "./b"})
	if len(flags) != 3 || len(packages) != 2 || err != nil {
		t.Errorf("%q, %q, %v", flags, packages, err)
	}
	for _, wrong := range [][]string{nil, {"./a"}, {"-race", "--"}} {
		if _, _, err := split(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
