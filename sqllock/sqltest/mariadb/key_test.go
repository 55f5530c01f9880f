package mariadb

import (
	"database/sql"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// A server that takes no table without a primary key, as replication in groups asks for, takes ours.
func TestPrimaryKeyForced(t *testing.T) {
	addr := servers.MariaDB(t, "--loose-innodb-force-primary-key=1", "--loose-sql-require-primary-key=1").Addr
	if err := sqllock.MigrateURL(t.Context(), "mysql://root@"+addr+"/test"); err != nil {
		t.Fatal(err)
	}
}

// The tables may be in a database of their own, and those of several programs in one server.
func TestDatabasesApart(t *testing.T) {
	t.Parallel()
	addr := servers.MariaDB(t).Addr
	db, err := sql.Open("mysql", "root@tcp("+addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"locks", "`more locks`"} {
		if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
			t.Fatal(err)
		}
	}
	claimstest.TestApart(t, "mysql://root@"+addr+"/locks", "mysql://root@"+addr+"/more%20locks")
}
