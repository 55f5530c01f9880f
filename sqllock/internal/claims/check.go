package claims

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A fact is a question to the server, and what to do about answers that are not good.
type fact struct {
	name   string
	query  string
	good   func(value string) bool
	level  driver.Level // where it is not
	advice string
}

// Check implements [driver.Checker]. What this server or this user cannot tell is left out.
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	return run(ctx, d.session, func(ctx context.Context, conn *conn) (findings []driver.Finding, err error) {
		sessions, err := d.checkSessions(ctx, conn)
		if err != nil {
			return nil, err
		}
		findings = append(findings, sessions)
		for _, f := range d.dialect.facts {
			var value string
			switch err := conn.QueryRowContext(ctx, f.query).Scan(&value); {
			case err == nil:
				findings = append(findings, f.finding(value))
			case dbms.Code(err) == "":
				return nil, err
			}
		}
		return findings, nil
	})
}

func (f fact) finding(value string) driver.Finding {
	found := driver.Finding{Fact: f.name + " is " + value}
	if !f.good(value) {
		found.Level, found.Advice = f.level, f.advice
	}
	return found
}

// looks is how often the session is asked for its number, to find out whether a proxy deals statements out to many.
const looks = 5

func (d *Driver) checkSessions(ctx context.Context, conn *conn) (driver.Finding, error) {
	seen := make(map[int64]bool)
	for range looks {
		var id int64
		if err := conn.QueryRowContext(ctx, d.dialect.sessionID).Scan(&id); err != nil {
			return driver.Finding{}, err
		}
		seen[id] = true
	}
	if len(seen) == 1 {
		return driver.Finding{Fact: "a connection has a session of its own"}, nil
	}
	return driver.Finding{
		Level:  driver.Warning,
		Fact:   fmt.Sprintf("%d statements of one connection ran in %d sessions", looks, len(seen)),
		Advice: "connect to the server itself, or to a proxy that keeps sessions apart: locks hold, but waiting is less prompt",
	}, nil
}

// is makes a condition for facts.
func is(values ...string) func(string) bool {
	return func(value string) bool {
		for _, v := range values {
			if v == value {
				return true
			}
		}
		return false
	}
}

// atLeast compares numbers, of which a version may have several.
func atLeast(least int) func(string) bool {
	return func(value string) bool {
		var n int
		_, err := fmt.Sscan(value, &n)
		return err == nil && n >= least
	}
}
