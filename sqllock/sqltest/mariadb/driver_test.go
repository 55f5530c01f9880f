package mariadb

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

func init() { mysql.SetLogger(log.New(io.Discard, "", 0)) } // it reports each connection that a test breaks

func TestClaims(t *testing.T) {
	effort.Raced(t)
	claimstest.Run(t, store)
}

func BenchmarkFar(b *testing.B) { claimstest.Bench(b, store) }

func store(t testing.TB) claimstest.Store {
	return claimstest.Store{
		Server:  servers.MariaDB(t),
		Dialect: sqllock.MySQL,
		URL:     func(addr string) string { return "mysql://root@" + addr + "/test" },
		Source:  func(addr string) string { return "root@tcp(" + addr + ")/test" },
		SQL:     "mysql",
		Empty:   []string{"DROP DATABASE test", "CREATE DATABASE test"},
		Schema:  "DATABASE()",
		Routines: "SELECT CONCAT('DROP PROCEDURE ', ROUTINE_NAME) FROM information_schema.ROUTINES" +
			" WHERE ROUTINE_SCHEMA = DATABASE()",
		Names: func(prefix string, n int) string {
			return fmt.Sprintf("INSERT INTO holdfast_locks (name, token, released)"+
				" WITH RECURSIVE d AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM d WHERE i < 999)"+
				" SELECT CONCAT('%s', a.i * 1000 + b.i), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0"+
				" FROM d a, d b WHERE a.i * 1000 + b.i < %d", prefix, n)
		},
		Queue: func(name string, n int) string {
			const now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
			return fmt.Sprintf("INSERT INTO holdfast_claims"+
				" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)"+
				" WITH RECURSIVE d AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM d WHERE i < 99),"+
				" n AS (SELECT a.i * 100 + b.i + 1 AS i FROM d a, d b)"+
				" SELECT '%s', CONCAT('queued ', i), i, 1, 1, 3600000000, %s + 3600000000, %s, i = 1, 0, '', ''"+
				" FROM n WHERE i <= %d", name, now, now, n)
		},
		Analyze:  []string{"ANALYZE TABLE holdfast_locks"},
		RowsRead: rowsRead,
		Other: []string{
			"DROP PROCEDURE holdfast1_version",
			"CREATE PROCEDURE holdfast1_version() SQL SECURITY INVOKER SELECT format, 1000 FROM holdfast_store",
		},
		Client: func(addr string) []string {
			host, port, _ := net.SplitHostPort(addr)
			return []string{"mysql", "--no-defaults", "-h", host, "-P", port, "-u", "root", "test"}
		},
		Sessions: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()",
		Sleeping: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE IN ('User lock', 'User sleep')",
		WakeLock: func(id, of string) string {
			hash := "SHA2(CONCAT(DATABASE(), ':', '" + id + "'), 256)"
			return "SELECT IS_USED_LOCK(CONCAT('holdfast:', LEFT(" + hash + ", 40), ':" + of + "')) IS NOT NULL"
		},
		KillAll: killAll,
		Gate:    gate,
		Rival:   rival,
		Faults:  faults,
		Noise:   "Aborted connection",
		Slow: claimstest.Slow{
			Begin: []string{
				"SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 1", "SET GLOBAL slow_query_log = 1",
			},
			End: []string{
				"SET GLOBAL slow_query_log = DEFAULT", "SET GLOBAL long_query_time = DEFAULT",
				"SET GLOBAL log_output = DEFAULT",
			},
			Statements: slowStatements,
		},
		Deadlocks: metric("lock_deadlocks"),
		Stranger: []string{
			"CREATE USER stranger@'%' IDENTIFIED BY 'secret'",
			"DELETE FROM mysql.db WHERE Db LIKE 'test%'", // which lets everybody use such databases
			"FLUSH PRIVILEGES",
		},
		Settings: []claimstest.Setting{
			{
				Statement: "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
				Fact:      "innodb_flush_log_at_trx_commit is 0", Level: driver.Warning,
			},
			{Statement: "SET GLOBAL read_only = 1", Fact: "read_only is 1", Level: driver.Unsafe},
		},
	}
}

func slowStatements(t testing.TB, _ claimstest.Store, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.Query("SELECT CONCAT(query_time, ' ', sql_text) FROM mysql.slow_log" +
		" WHERE sql_text LIKE '%holdfast1%' ORDER BY start_time")
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
	return all
}

func killAll(t testing.TB, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		db.Exec(fmt.Sprintf("KILL %d", id)) // it may be gone already
	}
}

// rival has written much, so that InnoDB ends another transaction rather than this one.
var rival = claimstest.Rival{
	Prepare: []string{"CREATE TABLE IF NOT EXISTS ballast (n INT)"},
	Begin:   []string{"INSERT INTO ballast VALUES (1)" + strings.Repeat(", (1)", 1000)},
	Blocked: metric("lock_row_lock_current_waits"),
	Ended:   metric("lock_timeouts"),
}

// rowsRead is what the server counts, in all tables.
func rowsRead(t testing.TB, db *sql.DB) (n int64) {
	t.Helper()
	var name string
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Handler_read_next'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// metric is a query for what InnoDB counts.
func metric(name string) string {
	return "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '" + name + "'"
}

// A server that is too old refuses, and the error says what to do.
func TestTooOld(t *testing.T) {
	if v, _ := servers.Named(os.Getenv("HOLDFAST_EXTRA")); v.Standing != servers.Refused {
		t.Skip("for HOLDFAST_EXTRA with a version that is too old")
	}
	err := sqllock.MigrateURL(t.Context(), "mysql://root@"+servers.MariaDB(t).Addr+"/test")
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "MariaDB 10.6 or newer") {
		t.Errorf("it says %v", err)
	}
}
