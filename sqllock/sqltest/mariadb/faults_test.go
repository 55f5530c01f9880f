package mariadb

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// faults are raised by a trigger that counts in a table which no transaction takes back.
var faults = claimstest.Faults{
	Prepare: []string{"CREATE TABLE faults (n INT PRIMARY KEY) ENGINE = MyISAM", "INSERT INTO faults VALUES (0)"},
	Raise: func(code string) []string {
		return []string{
			"UPDATE faults SET n = 2",
			"DROP TRIGGER IF EXISTS fault",
			"CREATE TRIGGER fault BEFORE INSERT ON holdfast_claims FOR EACH ROW BEGIN" +
				" IF (SELECT n FROM faults) > 0 THEN UPDATE faults SET n = n - 1;" +
				" SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " + code + "; END IF; END",
		}
	},
	Stop: []string{"DROP TRIGGER fault", "DROP TABLE faults"},
	Undone: []string{
		"3101", // group replication has rolled the transaction back at its commit, because another node's was first
	},
	Lost: []string{
		"1047", // this node of Galera is not, or not yet, part of the cluster
		"3100", // group replication lets nobody write here now
		"3796", // group replication has put this server out of its group
		"3797", // group replication does not learn what others have committed
		"1836", // the server, or the transaction, is read-only
		"1792",
	},
	Refuse: func(t *testing.T, db *sql.DB) (allow func()) {
		set := func(value string) {
			if _, err := db.Exec("SET GLOBAL read_only = " + value); err != nil {
				t.Error(err)
			}
		}
		set("1")
		return func() { set("0") }
	},
	User: func(t *testing.T, db *sql.DB, url string) string { // root may write nevertheless
		for _, statement := range []string{
			"CREATE USER app@'%' IDENTIFIED BY 'secret'", "GRANT ALL ON test.* TO app@'%'",
		} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		return strings.Replace(url, "root@", "app:secret@", 1)
	},
}
