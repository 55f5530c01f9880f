package style

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/files"
)

// A test fails for the time that something takes only in an attempt of internal/pace, in a synctest bubble, or after a
// minute: CONTRIBUTING.md says why, and what to count instead.

// tests are the files that are looked at: tests, and the packages that tests of several others share.
var tests = regexp.MustCompile(`_test\.go$|^(driver/drivertest|internal/(leasedtest|apart|claimed)|` +
	`sqllock/sqltest/claimstest|systemtest)/.*\.go$`)

// patient are bounds that only end what hangs.
var patient = regexp.MustCompile(`^(time\.(Minute|Hour)|patience)$`)

// bubbles are the functions whose arguments run in virtual time.
var bubbles = regexp.MustCompile(`^(synctest\.Test|inTime)$`)

// measuring are the functions that may compare a measured time with a bound, and why.
var measuring = map[string]string{
	"driver/drivertest/expiry.go staysGone":                          "it ends when the time is over",
	"etcdlock/late_test.go TestCopyAfterALeaseThatIsNotExtended":     "it waits for time to pass",
	"etcdlock/notes_test.go TestLeftAloneForNoLonger":                "it waits for time to pass",
	"internal/apart/apart.go lockFree":                               "it notes the longest time, and bounds none",
	"internal/leasedtest/failures.go judgeCut":                       "its callers are attempts, which name the bound",
	"systemtest/redlock/amnesia_test.go TestEmptyServerKeepsOutOfIt": "what comes after the TTL shows nothing",
	"systemtest/redlock/minority_test.go TestMinoritySlow":           "it renews when a renewal is due",
	"sqllock/sqltest/crash_test.go grantedAtOnce":                    "the bound is a minute",
	"systemtest/faults/holder_test.go hold":                          "it notices its own pauses",
	"undo_ahead_test.go TestNobodyWaitsLongForAnUndo":                "what its table has runs in a bubble",
	"zklock/cutoff_test.go try":                                      "it compares instants that leases name",
	"zklock/open_test.go TestRenewalsAreWhole":                       "the bound is a minute",
}

func TestNoTimeIsBounded(t *testing.T) {
	unused := make(map[string]bool)
	for place := range measuring {
		unused[place] = true
	}
	for name, text := range files.EndingIn(t, ".go") {
		if !tests.MatchString(name) {
			continue
		}
		for _, place := range boundedTimes(t, name, text) {
			if unused[place] = false; measuring[place] == "" {
				t.Errorf("%s bounds a measured time: count instead, or make it an attempt of internal/pace", place)
			}
		}
	}
	for place, is := range unused {
		if is {
			t.Errorf("%s bounds no measured time any more", place)
		}
	}
}

// boundedTimes returns the functions of a file that compare a measured time with a bound which a busy machine may
// exceed.
func boundedTimes(t *testing.T, name, text string) (places []string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !isAttempt(f.Type) && bounds(f.Body) {
			places = append(places, fmt.Sprint(name, " ", f.Name.Name))
		}
	}
	return places
}

// bounds reports whether such a comparison is in the body of a function.
func bounds(body *ast.BlockStmt) (found bool) {
	measured := make(map[string]bool) // variables
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !isAttempt(n.Type)
		case *ast.CallExpr:
			return !bubbles.MatchString(nameOf(n.Fun))
		case *ast.AssignStmt:
			for i, v := range n.Lhs {
				if id, ok := v.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && mentions(n.Rhs[i], isClock, measured) {
					measured[id.Name] = true
				}
			}
		case *ast.BinaryExpr:
			long, bound := n.X, n.Y
			if n.Op == token.LSS || n.Op == token.LEQ {
				long, bound = n.Y, n.X
			}
			isOrder := n.Op == token.LSS || n.Op == token.LEQ || n.Op == token.GTR || n.Op == token.GEQ
			found = found || isOrder && mentions(long, isClock, measured) && !mentions(bound, patient.MatchString, nil)
		}
		return true
	})
	return found
}

// isAttempt reports whether a function is a part of an attempt of internal/pace.
func isAttempt(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		pointer, ok := p.Type.(*ast.StarExpr)
		return ok && nameOf(pointer.X) == "pace.T"
	})
}

// isClock reports whether a function tells how much time has passed.
func isClock(name string) bool { return name == "time.Since" || strings.HasSuffix(name, ".Sub") }

// mentions reports whether a name that is wanted, or one of these variables, is in an expression.
func mentions(e ast.Expr, wanted func(string) bool, variables map[string]bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			name := nameOf(e)
			found = found || name != "" && (wanted(name) || variables[name])
		}
		return !found
	})
	return found
}

// nameOf is the name that an expression is, with that of its package or value before it.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}

func TestBoundedTimes(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want bool
	}{
		"a bound":              {"if time.Since(began) > time.Second { t.Fail() }", true},
		"a variable":           {"took := end.Sub(began); if 2*time.Second < took { t.Fail() }", true},
		"a ratio":              {"a, b := time.Since(x), time.Since(y); if a > 3*b { t.Fail() }", true},
		"a minute":             {"if time.Since(began) > time.Minute { t.Fail() }", false},
		"at least":             {"if time.Since(began) < time.Second { t.Fail() }", false},
		"a bubble":             {"synctest.Test(t, func(t *testing.T) { if time.Since(b) > 1 { t.Fail() } })", false},
		"an attempt":           {"pace.Run(t, \"x\", func(t *pace.T) { if time.Since(b) > 1 { t.Fail() } })", false},
		"nothing was measured": {"if a > b { t.Fail() }", false},
	} {
		source := "package p\nfunc TestIt(t *testing.T) {" + row.body + "}"
		if got := len(boundedTimes(t, "p_test.go", source)) > 0; got != row.want {
			t.Errorf("%s: found: %v, want %v", name, got, row.want)
		}
	}
}
