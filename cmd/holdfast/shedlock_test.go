//go:build linux

package main

import (
	"database/sql"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// The scripts of testdata/shedlock are for locks in ShedLock's table. "sql STATEMENT" does what its owner may do, and
// what programs with ShedLock do.

func TestOnMariaDBShedLock(t *testing.T) {
	t.Parallel()
	addr := servers.MariaDB(t).Addr
	inShedLock(t, "mysql://root@"+addr+"/test?layout=shedlock", "mysql", "root@tcp("+addr+")/test")
}

func TestOnPostgresShedLock(t *testing.T) {
	t.Parallel()
	url := "postgres://postgres@" + servers.Postgres(t).Addr + "/postgres?sslmode=disable"
	inShedLock(t, url+"&layout=shedlock", "pgx", url)
}

func inShedLock(t *testing.T, url, driver, source string) {
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/shedlock",
		Setup: func(env *testscript.Env) error {
			prepare(env, url)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sql": func(ts *testscript.TestScript, _ bool, args []string) {
				_, err := db.Exec(args[0])
				ts.Check(err)
			},
		},
	})
}
