package dbms

import (
	"context"
	"database/sql"
)

// galera are the databases that were asked whether they are nodes of Galera.
var galera memory[bool]

// IsGalera reports whether a MySQL or MariaDB server may be a node of Galera, where a row that is locked is locked on
// one node only. A transaction is undone there if another node has changed a row that it changes, and for no row that
// it has only locked. Each database is asked once.
func IsGalera(ctx context.Context, db *sql.DB) (bool, error) { return galera.of(ctx, db, askGalera) }

func askGalera(ctx context.Context, q Querier) (on bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT @@GLOBAL.wsrep_on").Scan(&on)
	if Code(err) == "1193" { // ER_UNKNOWN_SYSTEM_VARIABLE: the server cannot be one
		return false, nil
	}
	return on, err
}
