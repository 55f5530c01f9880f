package claimstest

import (
	"database/sql"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// empty removes whatever is in the database.
func (s Store) empty(t testing.TB) *sql.DB {
	t.Helper()
	changeAll(t, s.admin(t), s.Empty)
	return s.admin(t)
}

// works takes and gives back a lock.
func (s Store) works(t testing.TB) {
	t.Helper()
	d := s.client(t)
	release(t, d, request(t, d, mutex(t.Name()), true))
}

// Routines of another revision are neither called nor replaced.
func testOtherRevision(t *testing.T, s Store) {
	s.migrated(t)
	db := s.admin(t)
	changeAll(t, db, s.Other)
	s.refuses(t, "same version")
	if err := sqllock.MigrateURL(t.Context(), s.URL(s.Addr)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("MigrateURL: %v, want ErrRefused", err)
	}
	if out, err := s.runScript(t); err == nil || !strings.Contains(out, "another revision") {
		t.Errorf("the script: %v, want a refusal\n%s", err, out)
	}
	changeAll(t, db, texts(t, db, s.Routines))
	s.migrated(t).works(t)
}

// A dump may leave routines out: who opens what was made of it is told what to do, and that repairs it.
func testLostRoutines(t *testing.T, s Store) {
	s.migrated(t)
	db := s.admin(t)
	drops := texts(t, db, s.Routines)
	if len(drops) < 10 {
		t.Fatalf("routines: %q", drops)
	}
	changeAll(t, db, drops)
	s.refuses(t, "holdfast migrate")
	s.migrated(t).works(t)
	for _, drop := range drops {
		change(t, db, drop)
		s.migrated(t)
	}
	s.works(t)
}

// The script does what migrating does, twice, in the hands of the server's own client.
func testScript(t *testing.T, s Store) {
	s.empty(t)
	for range 2 {
		if out, err := s.runScript(t); err != nil || len(out) > 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		s.works(t)
	}
	s.everyTableHasAKey(t)
	if _, err := sqllock.MigrateScript(sqllock.SQLite); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("MigrateScript for SQLite: %v", err)
	}
}

// runScript runs the script that migrates, and returns what the server's own client says of it.
func (s Store) runScript(t *testing.T) (out string, err error) {
	t.Helper()
	script, err := sqllock.MigrateScript(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	command := s.Client(s.Addr)
	if _, err := exec.LookPath(command[0]); err != nil {
		servers.Require(t, false, command[0], "apt-get install -y mariadb-client postgresql-client")
	}
	client := exec.CommandContext(t.Context(), command[0], command[1:]...)
	client.Stdin = strings.NewReader(script)
	said, err := client.CombinedOutput()
	return string(said), err
}

// everyTableHasAKey expects primary keys: some servers and kinds of replication ask for them.
func (s Store) everyTableHasAKey(t testing.TB) {
	t.Helper()
	without := texts(t, s.admin(t), "SELECT t.table_name FROM information_schema.tables t"+
		" WHERE t.table_schema = "+s.Schema+
		" AND NOT EXISTS (SELECT 1 FROM information_schema.table_constraints c WHERE c.constraint_type = 'PRIMARY KEY'"+
		" AND c.table_schema = t.table_schema AND c.table_name = t.table_name)")
	if len(without) > 0 {
		t.Errorf("tables without a primary key: %q", without)
	}
}

func texts(t testing.TB, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
