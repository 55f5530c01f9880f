package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bounded is a project whose tests notice some of what may be changed.
var bounded = map[string]string{
	"go.mod": "module example\n\ngo 1.26\n",
	"bounded/bounded.go": `package bounded

import _ "embed"

//go:embed small.lua
var script string

const unused = 3

func small(n int) bool { return n < 10 }

func tested(n int) bool { return n < 20 }

func wait(n int) {
	for n > 0 {
		n--
	}
}

func swapped(a []int) []int {
	a[0] = 1
	a[1] = 1
	return a
}
`,
	"bounded/small.lua": "return 1",
	"bounded/bounded_test.go": `package bounded

import "testing"

var one = 1 // nobody knows that while compiling

func TestTested(t *testing.T) {
	if !tested(18+one) || tested(19+one) || !small(one) || script != "return 1" {
		t.Error("wrong")
	}
	wait(3)
	swapped(make([]int, 2))
}
`,
}

func layBounded(t *testing.T, changes map[string]string) string {
	t.Helper()
	dir := lay(t, changes)
	for name, content := range bounded {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range changes {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBench(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tree := layBounded(t, nil)
	b := must(newBench(t.Context(), tree, "./bounded -run=Test", 2*time.Second))(t)
	defer os.RemoveAll(b.dir)
	found := must(mutantsOf(tree, []string{"bounded"}))(t)
	want := map[string]verdict{
		"n < 10 -> n <= 10":     survived,
		"n < 10 -> n < 11":      survived,
		"n < 20 -> n <= 20":     killed,
		"n < 20 -> n < 21":      killed,
		"const unused = 3 -> 4": equal,
		"n-- -> ":               killed, // it hangs
		"n > 0 -> n >= 0":       survived,
		"n > 0 -> n > 1":        survived,
		"return 1 -> return 2":  killed, // in the script
		"a[0] = 1 -> a[1] = 1":  equal,  // swapped, which is the same
	}
	for change, verdict := range want {
		old, new, _ := strings.Cut(change, " -> ")
		m := mutantWith(t, found, old, new)
		if o, err := b.try(t.Context(), m); err != nil || o.Verdict != verdict {
			t.Errorf("%s: %+v, %v, want %s", change, o, err, verdict)
		}
	}
	unbuildable := mutantWith(t, found, "n < 10", "n <= 10")
	unbuildable.instead = "?"
	if o, err := b.try(t.Context(), unbuildable); err != nil || o.Verdict != unbuilt {
		t.Errorf("what is no Go: %+v, %v", o, err)
	}
}

// A test that fails now and then kills nothing, unless it fails again.
func TestFlakyTestKillsNothing(t *testing.T) {
	t.Setenv("GOWORK", "off")
	const flaky = `package bounded

import (
	"os"
	"testing"
)

func TestSecondRun(t *testing.T) {
	runs, err := os.ReadFile("runs")
	if err := os.WriteFile("runs", append(runs, '.'), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(runs) == 1 {
		t.Error("now and then", err)
	}
}
`
	tree := layBounded(t, map[string]string{"bounded/flaky_test.go": flaky})
	b := must(newBench(t.Context(), tree, "./bounded", 10*time.Second))(t)
	defer os.RemoveAll(b.dir)
	m := mutantWith(t, must(mutantsOf(tree, []string{"bounded"}))(t), "n < 10", "n <= 10")
	if o, err := b.try(t.Context(), m); err != nil || o.Verdict != survived {
		t.Errorf("%+v, %v, want it to survive", o, err)
	}
}

// A test that needs what another left behind fails alone also without a mutant, and kills none by that.
func TestDependentTestKillsNothingAlone(t *testing.T) {
	t.Setenv("GOWORK", "off")
	const dependent = `package bounded

import "testing"

var prepared bool

func TestBefore(t *testing.T) { prepared = true }

func TestDependent(t *testing.T) {
	if !prepared || small(9+one) {
		t.Error("wrong")
	}
}
`
	tree := layBounded(t, map[string]string{"bounded/a_test.go": dependent})
	b := must(newBench(t.Context(), tree, "./bounded", 10*time.Second))(t)
	defer os.RemoveAll(b.dir)
	found := must(mutantsOf(tree, []string{"bounded"}))(t)
	o := must(b.try(t.Context(), mutantWith(t, found, "n < 10", "n <= 10")))(t)
	if o.Verdict != killed || o.By != "TestDependent" {
		t.Errorf("%+v, want it killed by TestDependent", o)
	}
	if o := must(b.try(t.Context(), mutantWith(t, found, "n > 0", "n >= 0")))(t); o.Verdict != survived {
		t.Errorf("%+v, want it to survive", o)
	}
}

// The test that killed a mutant is asked first when the next is tried, and the others only if it stays green.
func TestKillersAreAskedFirst(t *testing.T) {
	t.Setenv("GOWORK", "off")
	const counting = `package bounded

import (
	"os"
	"testing"
)

func TestAll(t *testing.T) {
	runs, _ := os.ReadFile("runs")
	if err := os.WriteFile("runs", append(runs, '.'), 0o600); err != nil {
		t.Fatal(err)
	}
}
`
	tree := layBounded(t, map[string]string{"bounded/all_test.go": counting})
	b := must(newBench(t.Context(), tree, "./bounded", 10*time.Second))(t)
	defer os.RemoveAll(b.dir)
	found := must(mutantsOf(tree, []string{"bounded"}))(t)
	for _, row := range []struct {
		old, new string
		verdict  verdict
		runs     string
	}{
		{"n < 20", "n <= 20", killed, ".."}, // one without a mutant
		{"n < 20", "n < 21", killed, ".."},
		{"n < 10", "n <= 10", survived, "..."},
	} {
		o, err := b.try(t.Context(), mutantWith(t, found, row.old, row.new))
		runs := must(os.ReadFile(filepath.Join(tree, "bounded", "runs")))(t)
		if err != nil || o.Verdict != row.verdict || string(runs) != row.runs {
			t.Errorf("%s: %+v, %v, and all tests have run %q, want %q", row.new, o, err, runs, row.runs)
		}
	}
}

// mutantWith finds the mutant that replaces one text by another.
func mutantWith(t *testing.T, found []mutant, old, new string) mutant {
	t.Helper()
	for _, m := range found {
		if strings.Contains(m.before(), old) && !strings.Contains(m.after(), old) &&
			(strings.Contains(m.after(), new) || strings.HasPrefix(m.after(), new)) {
			return m
		}
	}
	t.Fatalf("no mutant makes %q of %q", new, old)
	return mutant{}
}

// Killers that hang are given up sooner than all tests would be.
func TestPatienceWithKillers(t *testing.T) {
	took := timesOf([]byte("=== RUN   TestA\n    --- PASS: TestA/part (1.00s)\n--- PASS: TestA (2.50s)\n" +
		"--- SKIP: TestB (9.00s)\n--- PASS: TestC (0.50s)\nPASS\n"))
	for _, row := range []struct {
		killers []string
		want    time.Duration
	}{
		{[]string{"TestA/part"}, 37500 * time.Millisecond},
		{[]string{"TestA", "TestC", "TestB"}, 39 * time.Second},
	} {
		b := bench{patience: time.Minute}
		if got := b.patienceWith(&testPackage{took: took, killers: row.killers}); got != row.want {
			t.Errorf("%q: %v, want %v", row.killers, got, row.want)
		}
		b.patience = time.Second
		if got := b.patienceWith(&testPackage{took: took, killers: row.killers}); got != time.Second {
			t.Errorf("%q: %v, want no more than for all", row.killers, got)
		}
	}
}

func TestBenchRefusesRedTests(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tree := layBounded(t, map[string]string{"bounded/small.lua": "return 2"})
	_, err := newBench(t.Context(), tree, "./bounded", 0)
	if err == nil || !strings.Contains(err.Error(), "prove nothing") {
		t.Errorf("%v, want a complaint that it proves nothing", err)
	}
}

// The whole, on a project of its own: a mutant that survives is an error unless it is explained.
func TestGenerate(t *testing.T) {
	t.Setenv("GOWORK", "off")
	tests["bounded"], sources["bounded"] = "./bounded", []string{"bounded"}
	defer func() { delete(tests, "bounded"); delete(sources, "bounded") }()
	tree := layBounded(t, nil)
	survivor := mutantWith(t, must(mutantsOf(tree, []string{"bounded"}))(t), "n < 10", "n <= 10")
	for _, row := range []struct {
		name, explained string
		fails           bool
		says            string
	}{
		{"survives", "# nothing\n", true, "killed 0 of 1 (0%); 1 survive, 0 are explained"},
		{"is explained", survivor.name() + " nobody calls it with 10\n", false,
			"killed 0 of 1 (0%); 0 survive, 1 are explained"},
	} {
		t.Chdir(layBounded(t, map[string]string{explainedFile: row.explained}))
		if out, err := exec.Command("git", "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var out bytes.Buffer
		err := generate(context.Background(), []string{"-match", survivor.hash, "bounded"}, &out, &out)
		if (err != nil) != row.fails || !strings.Contains(out.String(), row.says) {
			t.Errorf("%s: %v\n%s", row.name, err, &out)
		}
		out.Reset()
		generate(context.Background(), []string{"-json", "-match", survivor.hash, "bounded"}, &out, &out)
		var reports []report
		if err := json.Unmarshal(out.Bytes(), &reports); err != nil || len(reports) != 1 || len(reports[0].Tried) != 1 {
			t.Errorf("%s: %v, as JSON\n%s", row.name, err, &out)
		}
	}
}

// A seed chooses the same mutants each time.
func TestSample(t *testing.T) {
	found := must(mutantsOf(layBounded(t, nil), []string{"bounded"}))(t)
	names := func(seed uint64) (all string) {
		for _, m := range (generation{seed: seed}).sample(found) {
			all += m.name() + "\n"
		}
		return all
	}
	if first, again := names(1), names(1); first != again || first == names(2) {
		t.Error("the seed does not decide")
	}
}

// A file may be left out.
func TestFileLeftOut(t *testing.T) {
	const out = "bounded/bounded.go"
	tree := layBounded(t, nil)
	all, some := must(mutantsOf(tree, []string{"bounded"}))(t), must(mutantsOf(tree, []string{"bounded", "!" + out}))(t)
	all = slices.DeleteFunc(all, func(m mutant) bool { return strings.HasPrefix(m.name(), out+":") })
	if len(some) == 0 || len(some) != len(all) {
		t.Errorf("%d mutants of the other files, want %d", len(some), len(all))
	}
}

func TestExplained(t *testing.T) {
	for _, row := range []struct{ content, refused string }{
		{"", ""},
		{"# why not\n\na.go:3:drop:12ab it is only faster\n", ""},
		{"a.go:3:drop:12ab\n", "and a reason"},
		{"a.go:drop:12ab a reason\n", "FILE:LINE:KIND:HASH"},
	} {
		file := filepath.Join(t.TempDir(), "explained.txt")
		if err := os.WriteFile(file, []byte(row.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := explained(file)
		if (err != nil) != (row.refused != "") || err != nil && !strings.Contains(err.Error(), row.refused) {
			t.Errorf("%q: %v, want %q", row.content, err, row.refused)
		}
	}
}

// A mutant that is explained is one that there is: the code may have changed under it.
func TestExplainedMutantsAreThere(t *testing.T) {
	reasons := must(explained(filepath.Join("..", explainedFile)))(t)
	for _, folders := range sources {
		for _, m := range must(mutantsOf("..", folders))(t) {
			delete(reasons, m.key())
		}
	}
	for key, reason := range reasons {
		t.Errorf("%s is explained by %q, and there is no such mutant", key, reason)
	}
}

func TestParseGenerationRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"none"}, {"-n", "x", "memlock"}} {
		if _, err := parseGeneration(args, new(bytes.Buffer)); err == nil {
			t.Errorf("%q is understood", args)
		}
	}
}
