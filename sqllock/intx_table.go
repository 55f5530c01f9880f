package sqllock

import (
	"context"
	"database/sql"

	"github.com/holdfast-go/holdfast/internal/dbms"
)

// rowTable has a row for each name that was locked with [InTx]. A row may be deleted at any time, as [ReapInTx] does:
// the DELETE waits for whoever has it locked, and whoever uses the name next makes it again.
const rowTable = "holdfast_rows"

var makeTable = map[dbms.Kind]string{
	dbms.MySQL:   mysqlRows,
	dbms.MariaDB: mysqlRows,
	dbms.Postgres: "CREATE TABLE IF NOT EXISTS " + rowTable +
		" (name BYTEA PRIMARY KEY, made TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP)",
	dbms.SQLite: "CREATE TABLE IF NOT EXISTS " + rowTable +
		" (name BLOB PRIMARY KEY, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)",
}

const mysqlRows = "CREATE TABLE IF NOT EXISTS " + rowTable +
	" (name VARBINARY(1024) PRIMARY KEY, made TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)" +
	" ENGINE=InnoDB ROW_FORMAT=DYNAMIC"

// MigrateInTx makes the table that [InTx] needs, holdfast_rows, unless it is there. Many may call it at the same time.
func MigrateInTx(ctx context.Context, db *sql.DB) error {
	return dbms.MakeTable(ctx, db, rowTable, makeTable)
}
