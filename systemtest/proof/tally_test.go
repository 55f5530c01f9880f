package proof

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/files"
	"github.com/holdfast-go/holdfast/systemtest/nemesis"
)

var tabulate = flag.Bool("proof.table", false, "TestRuns writes the table of all runs into docs/proof.md")

// docs/proof.md has the sums of the runs in docs/proof-runs.tsv, each of which anybody can draw again.
func TestRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(files.Root, "docs/proof-runs.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var stores []string
	for _, k := range nemesis.Kinds {
		stores = append(stores, k.Name)
	}
	var runs []tally
	for line := range strings.Lines(string(text)) {
		run, err := parseTally(strings.TrimSuffix(line, "\n"))
		_, known := nemesis.Named(run.Store)
		if err != nil || !known || strings.Contains(run.Commit, "dirty") {
			t.Errorf("of no store, or of no commit: %q, error %v", line, err)
		}
		runs = append(runs, run)
	}
	files.HasTable(t, "docs/proof.md", "| store | runs |", tallied(stores, runs), *tabulate,
		"go test ./systemtest/proof -run TestRuns -proof.table")
}

// A line of a run is read as it was written.
func TestTallyText(t *testing.T) {
	for _, want := range []tally{
		{Store: "etcd of 3", Seed: 7, Commit: "abc", Got: 1, Transactions: 2, Blows: 3},
		{Store: "file", Seed: 1 << 63, Commit: "abc-dirty", Wrong: []string{"kept", "nothing left"}},
	} {
		got, err := parseTally(want.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, error %v; want %+v", got, err, want)
		}
	}
	for _, line := range []string{"", "a\tb", "file\tx\tabc\t1\t2\t3\tnothing", "file\t1\tabc\t1\tx\t3\tnothing"} {
		if _, err := parseTally(line); err == nil {
			t.Errorf("%q was read", line)
		}
	}
}

// A tally counts what a record has, and a table adds up the tallies of a store.
func TestTallied(t *testing.T) {
	r := quiet()
	r.Schedule.Store, r.Schedule.Seed = "redis", 17
	one := r.tally("abc", []Wrong{{Judge: "order"}, {Judge: "kept"}, {Judge: "kept"}})
	if want := "redis\t17\tabc\t3\t2\t0\tkept,order"; one.String() != want {
		t.Errorf("%q, want %q", one, want)
	}
	two := tally{Store: "redis", Got: 5, Transactions: 2, Blows: 1, Wrong: []string{"kept"}}
	got := tallied([]string{"file", "redis"}, []tally{one, two})
	for _, want := range []string{
		"| file | 0 | 0 | 0 | 0 | nothing |\n", "| redis | 2 | 8 | 4 | 1 | kept in 2, order in 1 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
