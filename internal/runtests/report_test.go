package main

import (
	"io"
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

// The tests of package pace stage stalls, about which nobody needs to hear.
func TestStagedStall(t *testing.T) {
	out, talk := shown(t, strings.ReplaceAll(givesUp, "all/one", "internal/pace")+passes)
	if strings.Contains(out+talk, "it stalled") {
		t.Errorf("printed\n%s, and told\n%s", out, talk)
	}
}

// Errors of compiling, and lines that are no events, are shown; the commands that compile are counted.
func TestBuild(t *testing.T) {
	const of = `{"ImportPath":"x","Action":"build-`
	out, talk := shown(t, of+`output","Output":"mkdir -p b001\n"}`+"\n"+
		of+`output","Output":"/tool/compile -o b001/x.a\n"}`+"\n"+
		of+`output","Output":"# x\n"}`+"\n"+of+`output","Output":"x.go:1: nonsense\n"}`+"\n"+
		of+`fail"}`+"\n"+
		`{"ImportPath":"y","Action":"build-output","Output":"GOROOT=x /tool/link -o y.test y.a\n"}`+"\n"+
		"go: no such thing\n"+passes)
	if strings.Count(out, "nonsense") != 2 || !strings.Contains(out, "go: no such thing\n") {
		t.Errorf("printed\n%s", out)
	}
	if strings.Contains(out, "mkdir") {
		t.Errorf("shows the commands:\n%s", out)
	}
	if want := "; compiled 1 packages and linked 1 programs of tests\n"; strings.Count(talk, want) != 1 {
		t.Errorf("told %s, want once %s", talk, want)
	}
}

// While nothing ends, it says what runs; what was compiled is told sooner, and first of all.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReport(io.Discard, io.Discard, 1)
		for _, want := range []time.Duration{quiet, atOnce, quiet, often, quiet} {
			if want < quiet {
				r.made.packages++
			}
			if got := r.patience(); got != want {
				t.Errorf("with %v of which %v is told it waits for %v, want %v", r.made, r.told, got, want)
			}
			time.Sleep(r.patience())
			r.progress()
		}
	})
}

const skipsSome = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: long: make test-long runs this, and so does X=1\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:3: long: make test-long runs this, and so does Y=1\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    a_test.go:9: no such server\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
`

// The end says how many tests ran, and how many did not for which reason; what runs again counts once.
func TestSummary(t *testing.T) {
	_, talk := shown(t, skipsSome+givesUp+passes)
	const want = `1 tests and subtests ran, 0 of them failed; 3 were skipped
      1 skipped: no such server
      2 skipped: for make test-long
`
	if !strings.Contains(talk, want) {
		t.Errorf("told\n%s, want\n%s", talk, want)
	}
}

func TestEach(t *testing.T) {
	var got []string
	each(strings.NewReader("a\n\nb"), func(line string) { got = append(got, line) })
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
