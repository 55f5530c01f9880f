package fence

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/dbms"
)

// sqlTable has the greatest token of each resource.
const sqlTable = "holdfast_resources"

// maxResource is the longest name of a resource that fits in the table, in bytes.
const maxResource = 1024

// SQL checks a token in a transaction of the caller, which then writes and commits. A token smaller than the greatest
// committed one is refused with an error that matches [ErrStale]; then roll back. Until the transaction ends, other
// transactions wait for the resource. Call SQL before the writes that it protects, or after them, but in the same
// transaction. It needs the table that [Migrate] creates.
//
// It takes two round trips: the first asks which database it is, because a *sql.Tx does not tell. MySQL and MariaDB
// take one more for the first token of a resource. In PostgreSQL under REPEATABLE READ or SERIALIZABLE it may fail with
// 40001, like any other write; then run the transaction again.
func SQL(ctx context.Context, tx *sql.Tx, resource string, token uint64) error {
	if err := Check(token); err != nil {
		return err
	}
	if resource == "" || len(resource) > maxResource {
		return fmt.Errorf("a resource's name must have 1 to %d bytes; this one has %d", maxResource, len(resource))
	}
	kind, err := dbms.Ask(ctx, tx)
	if err != nil {
		return err
	}
	admitted, err := admit(ctx, tx, kind, resource, token)
	switch {
	case dbms.NoTable(err):
		return fmt.Errorf("the table %s is missing; create it with fence.Migrate: %w", sqlTable, err)
	case err != nil:
		return fmt.Errorf("admit token %d to %q: %w", token, resource, err)
	case !admitted:
		return Stale(resource, token, 0)
	}
	return nil
}

func admit(ctx context.Context, tx *sql.Tx, kind dbms.Kind, resource string, token uint64) (bool, error) {
	result, err := tx.ExecContext(ctx, admission[kind], []byte(resource), int64(token))
	if err != nil {
		return false, err
	}
	changed, err := result.RowsAffected()
	if err != nil || changed != 1 || kind == dbms.Postgres || kind == dbms.SQLite {
		return changed > 0, err
	}
	// MySQL counts a row that it changed twice, and one that it inserted once; with CLIENT_FOUND_ROWS, which is the
	// caller's choice, one that it left as it was, too.
	var seen uint64
	const latest = "SELECT token FROM " + sqlTable + " WHERE resource = ? FOR UPDATE"
	err = tx.QueryRowContext(ctx, latest, []byte(resource)).Scan(&seen)
	return seen == token, err
}

// admission raises the token of a resource unless that would lower it. It locks the row before it looks at it.
var admission = map[dbms.Kind]string{
	dbms.MySQL:    mysqlAdmission,
	dbms.MariaDB:  mysqlAdmission,
	dbms.Postgres: "INSERT INTO " + sqlTable + " AS seen (resource, token) VALUES ($1, $2)" + unlessLower,
	dbms.SQLite:   "INSERT INTO " + sqlTable + " AS seen (resource, token) VALUES (?, ?)" + unlessLower,
}

const (
	unlessLower = " ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE seen.token <= excluded.token"

	// A column that changes whenever a token is admitted makes the count of changed rows tell it. Assignments are
	// evaluated from left to right.
	mysqlAdmission = "INSERT INTO " + sqlTable + " (resource, token) VALUES (?, ?) ON DUPLICATE KEY UPDATE" +
		" uses = uses + (token <= VALUES(token)), token = GREATEST(token, VALUES(token))"
)

var makeSQLTable = map[dbms.Kind]string{
	dbms.MySQL:    mysqlTable,
	dbms.MariaDB:  mysqlTable,
	dbms.Postgres: "CREATE TABLE IF NOT EXISTS " + sqlTable + " (resource BYTEA PRIMARY KEY, token BIGINT NOT NULL)",
	dbms.SQLite:   "CREATE TABLE IF NOT EXISTS " + sqlTable + " (resource BLOB PRIMARY KEY, token INTEGER NOT NULL)",
}

const mysqlTable = "CREATE TABLE IF NOT EXISTS " + sqlTable + " (resource VARBINARY(1024) PRIMARY KEY," +
	" token BIGINT NOT NULL, uses BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB ROW_FORMAT=DYNAMIC"

// Migrate creates the table that [SQL] needs, holdfast_resources, if it does not exist. Many may do so at the same
// time. A row may be deleted once nobody can have an older token any more.
func Migrate(ctx context.Context, db *sql.DB) error {
	return dbms.MakeTable(ctx, db, sqlTable, makeSQLTable)
}
