package sqllock

import (
	"errors"
	"strings"
	"testing"
)

// Options are refused before the database is asked anything: there is none here.
func TestRefusedOptions(t *testing.T) {
	for _, row := range []struct {
		dialect     *Dialect
		opts        Options
		want        string
		unsupported bool
	}{
		{nil, Options{}, "no dialect is given", false},
		{MySQL, Options{Mode: "rows"}, `no mode "rows"`, false},
		{Postgres, Options{Pooler: "statement"}, `no pooler "statement"`, false},
		{Postgres, Options{Layout: "rails", Mode: Session}, `no layout "rails"`, false},
		{Postgres, Options{Layout: RawLayout}, `use the mode "session"`, false},
		{Postgres, Options{Layout: ShedLock, Mode: Session}, `leave out the mode "session"`, false},
		{SQLite, Options{Layout: ShedLock}, "use MySQL or PostgreSQL", true},
		{Postgres, Options{Table: "jobs"}, `leave out the table "jobs"`, false},
		{MySQL, Options{Layout: ShedLock, Table: "a b"}, `the table "a b"`, false},
		{MySQL, Options{Layout: ShedLock, Waits: 3}, "another library's layout", false},
		{Postgres, Options{Connections: -1}, "-1 connections", false},
		{MySQL, Options{Mode: Session, Waits: 3}, "not in session mode", false},
		{SQLite, Options{Connections: 3}, "MySQL and PostgreSQL alone", false},
		{SQLite, Options{Mode: Session}, "leave out the mode", true},
		{Postgres, Options{Mode: Session, Pooler: PoolsTransactions}, "proxy", false},
	} {
		d, err := New(t.Context(), nil, row.dialect, &row.opts)
		if d != nil || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, %v; want an error with %q", row.opts, d, err, row.want)
		}
		if errors.Is(err, errors.ErrUnsupported) != row.unsupported {
			t.Errorf("%+v: %v is unsupported: %v", row.opts, err, !row.unsupported)
		}
	}
	if err := Migrate(t.Context(), nil, nil); err == nil {
		t.Error("a migration without a dialect succeeded")
	}
	if _, err := MigrateScript(nil); err == nil {
		t.Error("a script without a dialect succeeded")
	}
}
