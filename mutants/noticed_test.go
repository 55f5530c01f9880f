package main

import (
	"testing"
	"time"
)

// A saved memory is recalled, without what is no test and what is no fault any more.
func TestMemory(t *testing.T) {
	tree := lay(t, nil)
	var m memory
	m.note("adder/noticed", "TestAdd/two")
	m.note("adder/panics", "panic: divided by zero")
	m.note("adder/gone", "TestAdd")
	if err := m.save(tree); err != nil {
		t.Fatal(err)
	}
	again, err := recall(tree)
	if err != nil || len(again.test) != 1 || again.of("adder/noticed") != "TestAdd/two" {
		t.Errorf("recalled %q, %v, want that TestAdd/two noticed adder/noticed, and nothing else", again.test, err)
	}
}

// Of two tests that would notice, the one that is remembered is asked; if that stays green, all are.
func TestRememberedFirst(t *testing.T) {
	t.Setenv("GOWORK", "off")
	other := "\nfunc TestOther(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n" +
		"\nfunc TestGreen(t *testing.T) {}\n"
	tree := lay(t, map[string]string{"adder/a_test.go": project["adder/a_test.go"] + other})
	for remembered, noticed := range map[string]string{
		"TestOther": "TestOther",
		"TestGreen": "TestAdd/two",
		"TestGone":  "TestAdd/two",
	} {
		d := driver{name: "adder", target: "./adder", noticed: &memory{}}
		d.noticed.note("adder/noticed", remembered)
		if err := d.try(t.Context(), tree, "noticed.patch", 10*time.Second); err != nil {
			t.Errorf("%s: %v", remembered, err)
		}
		if by := d.noticed.of("adder/noticed"); by != noticed {
			t.Errorf("%s was remembered, and %s noticed, want %s", remembered, by, noticed)
		}
	}
	if got, want := only("TestA/b(c)", "TestD"), `-run=^TestA$/^b\(c\)$|^TestD$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
