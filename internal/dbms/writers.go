package dbms

import (
	"context"
	"database/sql"
	"strings"
)

// writers are the databases that were asked whether others write beside them.
var writers memory[bool]

// SeveralWriters reports whether a MySQL or MariaDB server may be one of several that write: a node of Galera, or a
// primary of several in group replication. A row that is locked is locked on one of them only. A transaction is undone
// there if another server has changed a row that it changes, and for no row that it has only locked. A server that is
// set up for that counts, whether it has joined others or not. Each database is asked once.
func SeveralWriters(ctx context.Context, db *sql.DB) (bool, error) {
	return writers.of(ctx, db, askWriters)
}

func askWriters(ctx context.Context, q Querier) (several bool, err error) {
	for _, query := range []string{
		"SELECT @@GLOBAL.wsrep_on",
		"SELECT NOT @@GLOBAL.group_replication_single_primary_mode",
	} {
		err := q.QueryRowContext(ctx, query).Scan(&several)
		if Code(err) == "1193" { // ER_UNKNOWN_SYSTEM_VARIABLE: the server cannot do that, or its plugin is not loaded
			continue
		}
		if several || err != nil {
			return several, err
		}
	}
	return false, nil
}

// StrictMode is a query for a setting of Percona XtraDB Cluster. Other servers do not know it.
const StrictMode = "SELECT @@GLOBAL.pxc_strict_mode"

// ForbidsLocks reports whether a cluster with this setting lets nobody use GET_LOCK, which its nodes do not share.
func ForbidsLocks(strictMode string) bool { return strictMode == "ENFORCING" || strictMode == "MASTER" }

// LocksForbidden reports whether an error is what GET_LOCK returns there. Its number is that of errors without one.
func LocksForbidden(err error) bool {
	return Code(err) == "1105" && strings.Contains(err.Error(), "pxc_strict_mode")
}
