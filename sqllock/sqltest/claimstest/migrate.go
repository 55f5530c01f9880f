package claimstest

import (
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// revision0 is what the first program made in an empty database.
//
//go:embed testdata/*-revision0.sql
var revision0 embed.FS

// scheme is that of the URLs.
func (s Store) scheme() string {
	scheme, _, _ := strings.Cut(s.URL(s.Addr), ":")
	return scheme
}

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

// called returns the first column of what a routine returns for a name.
func (s Store) called(t *testing.T, routine, name string) (all []string) {
	t.Helper()
	statement := "SELECT * FROM holdfast1_%s('%s')"
	if s.scheme() == "mysql" {
		statement = "CALL holdfast1_%s('%s')"
	}
	rows, err := s.admin(t).Query(fmt.Sprintf(statement, routine, name))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var first string
		row := []any{&first}
		for range columns[1:] {
			row = append(row, new(any))
		}
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		all = append(all, first)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Routines that this program does not call answer those that do: programs of earlier revisions, beside it.
func testEarlierPrograms(t *testing.T, s Store) {
	d, db := s.client(t), s.admin(t)
	names, queue := t.Name()+" names ", t.Name()+" queue"
	dead := request(t, d, mutex(names+"dead"), true)
	live := request(t, d, mutex(names+"live"), true)
	gone, over := request(t, d, mutex(queue), true), request(t, d, mutex(queue), false)
	next, last := request(t, d, mutex(queue), false), request(t, d, mutex(queue), false)
	release(t, d, gone) // only noted
	for _, c := range []driver.Claim{dead, over} {
		change(t, db, "UPDATE holdfast_claims SET deadline = 1 WHERE id = '"+c.ID+"'")
	}
	if got := s.called(t, "names", names); !slices.Equal(got, []string{live.Name}) {
		t.Errorf("the names are %q, want %q", got, live.Name)
	}
	if got := s.called(t, "queue", queue); !slices.Equal(got, []string{next.ID, last.ID}) {
		t.Errorf("the queue is %q, want %q", got, []string{next.ID, last.ID})
	}
	for _, c := range []driver.Claim{live, next, last} {
		release(t, d, c)
	}
}

// What an earlier program has made is refused, with what to do, and brought forward with the claims that are in it.
func testEarlierRevision(t *testing.T, s Store) {
	db := s.empty(t)
	script, err := revision0.ReadFile("testdata/" + s.scheme() + "-revision0.sql")
	if err != nil {
		t.Fatal(err)
	}
	changeAll(t, db, strings.Split(string(script), "\n-- next\n"))
	held := mutex(t.Name())
	held.Token = uint64(time.Now().UnixMicro())
	const insert = "INSERT INTO holdfast_locks (name, token, released) VALUES ('%s', %d, 0)"
	change(t, db, fmt.Sprintf(insert, held.Name, held.Token))
	change(t, db, fmt.Sprintf("INSERT INTO holdfast_claims"+
		" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)"+
		" VALUES ('%s', '%s', %d, 1, 1, %d, %d, 1, true, false, 'earlier', '')",
		held.Name, held.ID, held.Token, longTTL.Microseconds(), time.Now().Add(longTTL).UnixMicro()))

	s.refuses(t, "holdfast migrate")
	d := s.migrated(t).client(t)
	request(t, d, held, true)
	request(t, d, tryOnly(mutex(t.Name())), false)
	release(t, d, held)
	s.everyTableHasAKey(t)
}

// Routines of a later program are used as they are, and stay when an earlier one migrates.
func testLaterRevision(t *testing.T, s Store) {
	s.migrated(t)
	db := s.admin(t)
	changeAll(t, db, s.Later)
	s.migrated(t).works(t)
	if n := number(t, db, s.Revision); n != 1000 {
		t.Errorf("the routines are of revision %d after an earlier program has migrated", n)
	}
	changeAll(t, db, texts(t, db, s.Routines))
	s.migrated(t)
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
	script, err := sqllock.MigrateScript(s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	command := s.Client(s.Addr)
	if _, err := exec.LookPath(command[0]); err != nil {
		servers.Require(t, false, command[0], "apt-get install -y mariadb-client postgresql-client")
	}
	for range 2 {
		client := exec.CommandContext(t.Context(), command[0], command[1:]...)
		client.Stdin = strings.NewReader(script)
		if out, err := client.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
		s.works(t)
	}
	s.everyTableHasAKey(t)
	if _, err := sqllock.MigrateScript(sqllock.SQLite); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("MigrateScript for SQLite: %v", err)
	}
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
