package servertables

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// MySQL is the dialect of MySQL 8.0 and MariaDB 10.6, or newer.
var MySQL = &Dialect{
	Kind: server.MySQL,
	call: func(routine string, args int) string {
		return "CALL " + routine + "(" + strings.TrimSuffix(strings.Repeat("?,", args), ",") + ")"
	},
	taken:   takenOnMySQL,
	migrate: migrateMySQL,
	refuse:  mysqlRefuse,
	anew:    dropped,
	preface: "-- Makes what Holdfast needs in this database. Run it, as in: mysql DATABASE < FILE\n\n",
	helpers: []routine{
		"shorten", "bar", "spill", "finish", "bury", "rewind", "grant", "settle", "pass", "enter", "state", "hang",
		"withdraw", "passany", "extend",
	},
	wakeLocks: 256,
	limit:     dbms.StrictMode,
	within: func(mode string) int {
		if dbms.ForbidsLocks(mode) {
			return 0
		}
		return 256
	},
	facts: mysqlFacts,
}

var mysqlFacts = slices.Concat(health.MySQL, []health.Fact{
	{
		Name: "transaction_isolation", Query: "SELECT @@SESSION.transaction_isolation", Good: readCommitted,
		Level: driver.Warning, Advice: isolate,
	},
	{
		Name: "tx_isolation", Query: "SELECT @@SESSION.tx_isolation", Good: readCommitted,
		Level: driver.Warning, Advice: isolate,
	},
	{
		Name: "wait_timeout", Query: "SELECT @@GLOBAL.wait_timeout", Good: health.AtLeast(60), Level: driver.Warning,
		Advice: "set it to a minute or more: connections that wait for work are closed, and opening them takes time",
	},
	{
		Name: "binlog_format", Query: "SELECT IF(@@GLOBAL.log_bin, @@GLOBAL.binlog_format, 'not used')",
		Good: health.Is("ROW", "MIXED", "not used"), Level: driver.Unsafe,
		Advice: "set it to ROW: READ COMMITTED cannot be logged as statements",
	},
}, health.OneWriter(driver.Warning,
	"send all that use locks to one node of the cluster: on several, requests collide at their commit, "+
		"waiting is less prompt, a node may stand still for innodb_lock_wait_timeout, and a clock that is ahead "+
		"of the others ends claims early",
	"send all that use locks to one server of the group, or let it have one primary: on several, "+
		"requests collide at their commit, waiting is less prompt, and a clock that is ahead of the others ends "+
		"claims early",
))

var readCommitted = health.Is("READ-COMMITTED")

const isolate = "let the proxy keep SET SESSION: otherwise there are more deadlocks, which are repeated"

// turnToMigrate is a lock of the server, for this database.
const turnToMigrate = "CONCAT('holdfast:migrate:', LEFT(SHA2(DATABASE(), 256), 40))"

// migrateMySQL makes one table or routine after the other, as the server commits each by itself.
func migrateMySQL(ctx context.Context, conn *sql.Conn, d *Dialect) error {
	if err := d.makeReady(ctx, conn); err != nil {
		return err
	}
	var got sql.NullInt64
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+turnToMigrate+", 60)").Scan(&got)
	switch {
	case dbms.LocksForbidden(err): // the cluster makes one table at a time
	case err != nil:
		return err
	case got.Int64 != 1:
		return errors.New("another program has been creating the tables for a minute; try again later")
	}
	if _, _, err := d.refuseOthers(ctx, conn); err != nil { // the turn ends with the connection
		return err
	}
	kind, err := d.recognise(ctx, conn)
	if err != nil {
		return err
	}
	server := *d
	if kind == dbms.MariaDB {
		server.anew = replacedOnMariaDB
	}
	return d.make(ctx, conn, server.Statements())
}

// dropped makes a routine anew where the server has no other way. For a moment there is none: see remaking.
func dropped(name routine, statement string) []string {
	return []string{"DROP PROCEDURE IF EXISTS " + prefix + string(name), statement}
}

// replacedOnMariaDB leaves no moment without the routine, and no user without the right to it.
func replacedOnMariaDB(_ routine, statement string) []string {
	return []string{strings.Replace(statement, "\nCREATE PROCEDURE", "\nCREATE OR REPLACE PROCEDURE", 1)}
}

// mysqlRefuse is a routine, because only these have conditions. It is not left behind.
func mysqlRefuse(d *Dialect) []string {
	const name = "refuse"
	return append(dropped(name, d.text(name)), "CALL "+prefix+name+"()", "DROP PROCEDURE "+prefix+name)
}
