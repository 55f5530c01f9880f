package mariadb

import (
	"database/sql"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A routine sees what others have committed since it began, also in a session that asks for something else, as behind a
// proxy that drops what a session has set.
func TestIsolationOfAnySession(t *testing.T) {
	addr := servers.MariaDB(t).Addr
	if err := sqllock.MigrateURL(t.Context(), "mysql://root@"+addr+"/test"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "root@tcp("+addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"CALL holdfast1_enter('jobs')", // the transaction goes on
	} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	count := func() (n int) {
		if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM holdfast_ends").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	const insert = "INSERT INTO holdfast_ends (name, id, token, released, deadline) VALUES ('x', 'y', 1, 1, 1)"
	if _, err := db.ExecContext(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	if after := count(); before != 0 || after != 1 {
		t.Errorf("a transaction saw %d rows, and %d after another had committed one", before, after)
	}
}
