// Package health examines how a database is set up, as far as locks depend on it.
package health

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
)

// A Fact is a question to a database, and what to do about answers that are not good.
type Fact struct {
	Name   string
	Query  string
	Good   func(value string) bool
	Level  driver.Level // where it is not
	Advice string
}

// Look asks for facts, and tells of known faults of the server's version. What this server or this user cannot tell is
// left out.
func Look(ctx context.Context, q dbms.Querier, facts []Fact) (findings []driver.Finding, err error) {
	values := make(map[string]string)
	for _, f := range facts {
		var value string
		switch err := q.QueryRowContext(ctx, f.Query).Scan(&value); {
		case err == nil:
			values[f.Name] = value
			findings = append(findings, f.finding(value))
		case dbms.Code(err) == "":
			return nil, err
		}
	}
	return append(findings, faults(values)...), nil
}

// Names of facts that tell what faults to look for.
const (
	versionName = "the server's version"
	galeraName  = "wsrep_on"
)

// faults are those of the version of a server. MariaDB names itself in its version, and only PostgreSQL tells nothing
// beside its number but how it was packaged.
func faults(values map[string]string) []driver.Finding {
	version := values[versionName]
	switch {
	case values[knownfaults.SQLite] != "":
		return knownfaults.Findings(knownfaults.SQLite, values[knownfaults.SQLite])
	case values["fsync"] != "":
		return knownfaults.Findings(knownfaults.PostgreSQL, version)
	case !strings.Contains(version, "MariaDB"):
		return knownfaults.Findings(knownfaults.MySQL, version)
	case Is("1", "ON")(values[galeraName]):
		return knownfaults.Findings(knownfaults.MariaDB, version, knownfaults.WithGalera)
	default:
		return knownfaults.Findings(knownfaults.MariaDB, version)
	}
}

func (f Fact) finding(value string) driver.Finding {
	found := driver.Finding{Fact: f.Name + " is " + value}
	if !f.Good(value) {
		found.Level, found.Advice = f.Level, f.Advice
	}
	return found
}

// Is makes a condition for facts.
func Is(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// AtLeast compares numbers, of which a version may have several.
func AtLeast(least int) func(string) bool {
	return number(func(n int) bool { return n >= least })
}

// AtMost compares numbers.
func AtMost(most int) func(string) bool {
	return number(func(n int) bool { return n <= most })
}

func number(good func(int) bool) func(string) bool {
	return func(value string) bool {
		var n int
		_, err := fmt.Sscan(value, &n)
		return err == nil && good(n)
	}
}
