package main

import (
	"slices"
	"strings"
	"testing"
)

// changes are the mutants of a source, as "kind: line before -> line after".
func changesOf(found []mutant) []string {
	var all []string
	for _, m := range found {
		one := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		all = append(all, m.kind+": "+one(m.before())+" -> "+one(m.after()))
	}
	return all
}

func TestMutateGo(t *testing.T) {
	for _, row := range []struct {
		why, statement string
		want           []string
	}{
		{"a limit is off by one", "return a < b", []string{"compare: return a < b -> return a <= b"}},
		{"equal is unequal", "return a == b", []string{"compare: return a == b -> return a != b"}},
		{"and is or", "return x && y", []string{"logic: return x && y -> return x || y"}},
		{"more is less", "return a + max(a, b)", []string{
			"arith: return a + max(a, b) -> return a - max(a, b)",
			"arith: return a + max(a, b) -> return a + min(a, b)",
		}},
		{"numbers and truths", "return f(7, true)", []string{
			"constant: return f(7, true) -> return f(8, true)",
			"constant: return f(7, true) -> return f(7, false)",
		}},
		{"text stays", `return f("a < b")`, nil},
		{"a condition is negated", "if !x {\nreturn\n}", []string{"condition: if !x { -> if !(!x) {"}},
		{"an error is swallowed", "if err != nil {\nreturn err\n}", []string{
			"swallow: if err != nil { -> if false && err != nil {",
			"compare: if err != nil { -> if err == nil {",
		}},
		{"an error that is not returned is not", "if err != nil {\nreturn a\n}",
			[]string{"compare: if err != nil { -> if err == nil {"}},
		{"statements are left out and swapped", "f()\na++", []string{
			"drop: f() -> ", "swap: f() a++ -> a++ f()", "drop: a++ -> ",
		}},
		{"a declaration stays", "c := f()\nreturn c", nil},
		{"a deferred call is left out, and not moved", "f()\ndefer g()", []string{
			"drop: f() -> ", "defer: defer g() -> ",
		}},
	} {
		source := "package p\n\nfunc g() {\n" + row.statement + "\n}\n"
		found, err := mutateGo("g.go", source)
		if got := changesOf(found); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: %v\n got %q\nwant %q", row.why, err, got, row.want)
		}
	}
}

func TestMutateScripts(t *testing.T) {
	for _, row := range []struct {
		why, ending, script string
		want                []string
	}{
		{"Lua compares", ".lua", "if a <= 3 and b ~= c then", []string{
			"compare: if a <= 3 and b ~= c then -> if a < 3 and b ~= c then",
			"constant: if a <= 3 and b ~= c then -> if a <= 4 and b ~= c then",
			"logic: if a <= 3 and b ~= c then -> if a <= 3 or b ~= c then",
			"compare: if a <= 3 and b ~= c then -> if a <= 3 and b == c then",
		}},
		{"Lua's comments and strings stay", ".lua", "return 'a < 1' -- b > 2", nil},
		{"a negative number of Lua is no comment", ".lua", "x(-1)", []string{
			"drop: x(-1) -> ", "arith: x(-1) -> x(+1)", "constant: x(-1) -> x(-2)",
		}},
		{"Lua's statements are left out and swapped", ".lua", "redis.call('DEL', k)\nt = u", []string{
			"drop: redis.call('DEL', k) -> ",
			"swap: redis.call('DEL', k) t = u -> t = u redis.call('DEL', k)",
			"drop: t = u -> ",
		}},
		{"SQL compares", ".sql", "WHERE a >= now AND b", []string{
			"compare: WHERE a >= now AND b -> WHERE a > now AND b",
			"logic: WHERE a >= now AND b -> WHERE a >= now OR b",
		}},
		{"a condition of SQL is left out", ".sql", "AND a > b", []string{
			"logic: AND a > b -> OR a > b", "drop: AND a > b -> ", "compare: AND a > b -> AND a >= b",
		}},
		{"room for one byte more changes nothing", ".sql", "name VARBINARY(1024), id VARCHAR(64)", nil},
		{"what SQL quotes stays, and parameters", ".sql", "SELECT 'it''s < 1', \"a>b\", $1 -- 2 < 3", nil},
	} {
		found := mutateScript("s"+row.ending, row.script, languages[row.ending])
		if got := changesOf(found); !slices.Equal(got, row.want) {
			t.Errorf("%s:\n got %q\nwant %q", row.why, got, row.want)
		}
	}
}

// A mutant keeps its key when lines are added above, and two on one line have two.
func TestMutantsKeepTheirNames(t *testing.T) {
	before := must(mutateGo("g.go", "package p\n\nfunc g() bool { return a < b && c < d }\n"))(t)
	after := must(mutateGo("g.go", "package p\n\nvar x int\n\nfunc g() bool { return a < b && c < d }\n"))(t)
	keys := make(map[string]bool)
	for i := range before {
		if before[i].key() != after[i].key() || before[i].name() == after[i].name() {
			t.Errorf("%s became %s", before[i].name(), after[i].name())
		}
		keys[before[i].key()] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of 3 mutants: %v", len(keys), keys)
	}
}

// What is left out leaves its lines, so that the numbers of those below say the same in each mutant.
func TestMutantsKeepLines(t *testing.T) {
	source := "package p\n\nfunc g() {\n\tf(\n\t\ta,\n\t)\n\tpanic(b)\n}\n"
	for _, m := range must(mutateGo("g.go", source))(t) {
		if got, want := strings.Count(m.content(), "\n"), strings.Count(source, "\n"); got != want {
			t.Errorf("%s has %d lines, want %d", m.name(), got, want)
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
