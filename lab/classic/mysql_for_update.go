package classic

import (
	"context"
	"database/sql"
)

// ForUpdateTable is the table of the locks that transactions hold.
const ForUpdateTable = "lab_locks"

// MakeForUpdateTable makes it anew, with rows of these names. Its column "name" has no index, and "id" is the key.
func MakeForUpdateTable(ctx context.Context, db *sql.DB, names ...string) error {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + ForUpdateTable,
		"CREATE TABLE " + ForUpdateTable + " (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64) NOT NULL)",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	for _, name := range names {
		if _, err := db.ExecContext(ctx, "INSERT INTO "+ForUpdateTable+" (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return nil
}

// ForUpdateByName locks a row until the transaction ends, and looks for it by a column without an index. It assumes
// that it locks one row. It breaks because the database locks what it looks at, which is all rows: locks of other
// names wait too. And whoever waits for longer than innodb_lock_wait_timeout gets an error.
func ForUpdateByName(ctx context.Context, tx *sql.Tx, name string) error {
	var id int
	return tx.QueryRowContext(ctx, "SELECT id FROM "+ForUpdateTable+" WHERE name = ? FOR UPDATE", name).Scan(&id)
}

// ForUpdateByID locks a row by its key, and no other. It assumes that all take several locks in the same order. It
// breaks when two do not: each waits for the other, and the database ends one of the two transactions.
func ForUpdateByID(ctx context.Context, tx *sql.Tx, id int) error {
	return tx.QueryRowContext(ctx, "SELECT id FROM "+ForUpdateTable+" WHERE id = ? FOR UPDATE", id).Scan(&id)
}
