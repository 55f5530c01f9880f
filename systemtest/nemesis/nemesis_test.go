package nemesis

import (
	"slices"
	"testing"
)

// Every store has each fault, or says why not.
func TestEveryFaultHasAnAnswer(t *testing.T) {
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			s := k.Start(t)
			if s.Name != k.Name {
				t.Errorf("it calls itself %s", s.Name)
			}
			for _, name := range Names {
				_, here := s.Fault(name)
				if why := s.Absent[name]; here == (why != "") {
					t.Errorf("%s: here %v, and absent because %q", name, here, why)
				}
			}
			for _, f := range s.Faults {
				if !slices.Contains(Names, f.Name) {
					t.Errorf("%q is not among the names", f.Name)
				}
			}
		})
	}
}
