package effort

import (
	"strings"
	"testing"
)

// A test of an effort runs in that effort and in greater ones, and says otherwise how to run it.
func TestEfforts(t *testing.T) {
	for _, row := range []struct {
		name, long, soak string
		runs             map[string]bool
		picked           int
	}{
		{name: "usual", runs: map[string]bool{}, picked: 1},
		{name: "long", long: "1", runs: map[string]bool{"Long": true}, picked: 1},
		{name: "soak", soak: "1", runs: map[string]bool{"Long": true, "Soak": true}, picked: 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("HOLDFAST_LONG", row.long)
			t.Setenv("HOLDFAST_SOAK", row.soak)
			if got := Pick(1, 2); got != row.picked {
				t.Errorf("Pick(1, 2) is %d, want %d", got, row.picked)
			}
			for name, of := range map[string]func(testing.TB){"Long": Long, "Soak": Soak} {
				said := skipped(of)
				if (said == "") != row.runs[name] {
					t.Errorf("%s skips with %q, want that it runs: %v", name, said, row.runs[name])
				}
				variable := "HOLDFAST_" + strings.ToUpper(name) + "=1"
				if said != "" && !strings.HasSuffix(said, variable+" go test -run '^TestA$'") {
					t.Errorf("%s says %q, want how to run it", name, said)
				}
			}
		})
	}
}

// skipped returns what a test is skipped with. Empty: it runs.
func skipped(of func(testing.TB)) string {
	t := &fake{}
	of(t)
	return t.said
}

type fake struct {
	testing.TB
	said string
}

func (f *fake) Helper()          {}
func (f *fake) Name() string     { return "TestA/sub" }
func (f *fake) Skip(args ...any) { f.said = args[0].(string) }
