package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A machine that was busy may be why tests failed, and nothing else may that they show.
func TestSuspects(t *testing.T) {
	const plain, crash = "a_test.go:3: got 1, want 2", "panic: oh"
	for name, row := range map[string]struct {
		o     outcome
		shows string
		want  bool
	}{
		"a busy machine":                  {outcome{slow: busy}, plain, true},
		"a quiet machine":                 {outcome{slow: busy - 0.1}, plain, false},
		"a machine that stalled":          {outcome{repeated: true}, plain, true},
		"a panic on a busy machine":       {outcome{slow: busy}, crash, false},
		"a data race on a busy machine":   {outcome{slow: busy}, "testing.go:1: race detected during execution", false},
		"a test that has not ended":       {outcome{slow: busy}, "p TestA did not end:", false},
		"nothing is known of the machine": {outcome{}, plain, false},
	} {
		r := newReport(new(strings.Builder), new(strings.Builder), 1)
		row.o.failed, row.o.tests = true, make(map[string]bool)
		row.o.fails("TestA/one")
		row.o.fails("TestA")
		r.outcomes["p"] = &row.o
		r.fail("p", row.shows)
		got := r.suspects()
		if (len(got) == 1) != row.want {
			t.Errorf("%s: suspects %+v, want any: %v", name, got, row.want)
		}
		if len(got) == 1 && (len(got[0].tests) != 1 || got[0].tests[0] != "TestA") {
			t.Errorf("%s: runs again %q, want the test at the top", name, got[0].tests)
		}
	}
}

// once is a package whose first test passes when it runs for the second time, and whose second test never does.
const once = `package once

import ("os"; "testing")

func TestOnce(t *testing.T) {
	if err := os.Mkdir("ran", 0o700); err == nil {
		t.Error("the first time")
	}
}

func TestNever(t *testing.T) { t.Error("each time") }
`

// What fails again, alone, has failed; what passes then is told and has passed.
func TestRepeat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module once\n\ngo 1.25\n", "once_test.go": once} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	for flags, want := range map[string]bool{"TestOnce": true, "Test": false} {
		listed := "  once TestNever TestOnce: failed on the busy machine, and each time by itself\n"
		if want {
			listed = "  once TestOnce: failed on the busy machine, and passed by itself in run 1\n"
		}
		os.Remove("ran") // it need not be there
		var out, talk strings.Builder
		r := newReport(&out, &talk, 1)
		r.load = new(load)
		r.load.add(sample{time.Now().Add(time.Hour), busy})
		err := test(r, []group{{[]string{"-run", flags}, []string{"."}}})
		if !isFailure(err) || len(r.failed) != 1 {
			t.Fatalf("%s: the first time it ends with %v and %q:\n%s", flags, err, r.failed, out.String())
		}
		if passed := r.repeat(nil); passed != want {
			t.Errorf("%s: passed the second time: %v, want %v:\n%s", flags, passed, want, out.String())
		}
		r.close()
		if strings.HasSuffix(out.String(), "FAIL\n") == want {
			t.Errorf("%s: the end should tell that it passed: %v:\n%s", flags, want, out.String())
		}
		if !strings.Contains(talk.String(), "these run again, by themselves: ") {
			t.Errorf("%s: told %s", flags, talk.String())
		}
		if !strings.HasSuffix(talk.String(), listed) {
			t.Errorf("%s: told %s, want at the end %s", flags, talk.String(), listed)
		}
	}
}

// The average is that of the time in question.
func TestLoadSince(t *testing.T) {
	l, now := new(load), time.Now()
	l.add(sample{now.Add(-time.Minute), 9})
	l.add(sample{now.Add(time.Second), 2})
	l.add(sample{now.Add(2 * time.Second), 4})
	if got := l.since(now); got != 3 {
		t.Errorf("the machine was %v times slower, want 3", got)
	}
	if got := l.since(now.Add(time.Hour)); got != 0 {
		t.Errorf("of a time without samples it says %v", got)
	}
}
