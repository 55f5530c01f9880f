package claims

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// MySQL is the dialect of MySQL 8.0 and MariaDB 10.6, or newer.
var MySQL = &Dialect{
	Name: "mysql",
	call: func(routine string, args int) string {
		return "CALL " + routine + "(" + strings.TrimSuffix(strings.Repeat("?,", args), ",") + ")"
	},
	session: []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION autocommit = 1, innodb_lock_wait_timeout = 5, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	},
	wishes:  []string{"SET SESSION max_statement_time = 0"}, // MariaDB's; MySQL's concerns only SELECT
	migrate: migrateMySQL,
	drop:    "DROP PROCEDURE IF EXISTS ",
	helpers: []routine{"enter", "finish", "settle", "state", "hang"},
	busy:    []string{"1205", "1213", "1020"},
	refused: []string{"1044", "1045", "1049", "1142", "1227", "1290", "1370", "1792", "1836", "3572"},
	missing: []string{"1146", "1305", "1318"},
	bells:   256,
	facts:   mysqlFacts,
}

// turnToMigrate is a lock of the server, for this database.
const turnToMigrate = "CONCAT('holdfast:migrate:', SHA1(DATABASE()))"

// migrateMySQL makes one table or routine after the other, as the server commits each by itself. The format is written
// last, so what was left unfinished is made again.
func migrateMySQL(ctx context.Context, conn *sql.Conn, d *Dialect) error {
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+turnToMigrate+", 60)").Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errors.New("somebody else has been making the tables for a minute; try again later")
	}
	found, err := d.formatOf(ctx, conn) // the turn ends with the connection
	switch {
	case err != nil:
		return err
	case found != 0:
		return refuseOther(found)
	}
	return d.make(ctx, conn)
}
