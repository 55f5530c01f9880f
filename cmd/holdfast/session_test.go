//go:build linux

package main

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// The scripts of testdata/session are for locks of database sessions. "endsession LOCK" does what an administrator
// may do.

func TestOnMariaDBSessions(t *testing.T) {
	t.Parallel()
	addr := servers.MariaDB(t).Addr
	inSessions(t, "mysql://root@"+addr+"/test?mode=session", "mysql", "root@tcp("+addr+")/test", "KILL %d")
}

func TestOnPostgresSessions(t *testing.T) {
	t.Parallel()
	url := "postgres://postgres@" + servers.Postgres(t).Addr + "/postgres?sslmode=disable"
	inSessions(t, url+"&mode=session", "pgx", url, "SELECT pg_terminate_backend(%d)")
}

func inSessions(t *testing.T, url, driver, source, end string) {
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/session",
		Setup: func(env *testscript.Env) error {
			prepare(env, url)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"endsession": func(ts *testscript.TestScript, _ bool, args []string) {
				var session int64
				ts.Check(db.QueryRow("SELECT session FROM holdfast_sessions WHERE name = '" + args[0] +
					"'").Scan(&session))
				_, err := db.Exec(fmt.Sprintf(end, session))
				ts.Check(err)
			},
		},
	})
}
