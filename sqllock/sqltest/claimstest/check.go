package claimstest

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// A setting makes a server less safe, and Check says so.
type Setting struct {
	Statement string
	Fact      string // is in what Check then says
	Level     driver.Level
}

func testCheck(t *testing.T, s Store) {
	db := s.admin(t)
	d := s.client(t)
	findings, err := driver.Check(t.Context(), d, false)
	if err != nil || len(findings) < 3 {
		t.Fatalf("Check: %+v, %v", findings, err)
	}
	for _, f := range findings {
		if f.Level == driver.Unsafe || (f.Level == driver.Fine) != (f.Advice == "") {
			t.Errorf("an ordinary server: %+v", f)
		}
	}
	for _, set := range s.Settings {
		change(t, db, set.Statement)
		findings, err := driver.Check(t.Context(), s.client(t), false)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range findings {
			found = found || strings.Contains(f.Fact, set.Fact) && f.Level == set.Level && f.Advice != ""
		}
		if !found {
			t.Errorf("after %s: %+v", set.Statement, findings)
		}
	}
}
