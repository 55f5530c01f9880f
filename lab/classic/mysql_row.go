package classic

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-sql-driver/mysql"
)

// RowTable is the table of the locks that are rows.
const RowTable = "lab_dislock"

// MakeRowTable makes it anew.
func MakeRowTable(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + RowTable,
		`CREATE TABLE ` + RowTable + ` (
			id INT AUTO_INCREMENT PRIMARY KEY,
			lock_type VARCHAR(64) NOT NULL UNIQUE,
			owner_id VARCHAR(255) NOT NULL,
			count INT NOT NULL DEFAULT 1,
			update_time TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
		)`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// UniqueRow takes the lock by inserting a row, which a unique key lets one do. It assumes that every holder lives to
// delete its row. It breaks when one crashes: the row stays for ever. And nobody can wait, but only ask again.
type UniqueRow struct {
	DB          *sql.DB
	Type, Owner string
}

// TryLock reports whether the lock is ours now.
func (l UniqueRow) TryLock(ctx context.Context) (bool, error) {
	_, err := l.DB.ExecContext(ctx, "INSERT INTO "+RowTable+" (lock_type, owner_id) VALUES (?, ?)", l.Type, l.Owner)
	if IsNumber(err, DuplicateKey) {
		return false, nil
	}
	return err == nil, err
}

// Unlock gives it back.
func (l UniqueRow) Unlock(ctx context.Context) error {
	_, err := l.DB.ExecContext(ctx, "DELETE FROM "+RowTable+" WHERE lock_type = ? AND owner_id = ?", l.Type, l.Owner)
	return err
}

// CountedRow is [UniqueRow] that its owner may lock again: the row counts how often. It breaks in the same way, and
// when two threads of one owner believe that each of them is alone.
type CountedRow struct{ UniqueRow }

// TryLock reports whether the lock is ours now, once more or for the first time.
func (l CountedRow) TryLock(ctx context.Context) (bool, error) {
	again, err := l.DB.ExecContext(ctx, "UPDATE "+RowTable+" SET count = count + 1 WHERE lock_type = ? AND owner_id = "+
		"?", l.Type, l.Owner)
	if err != nil {
		return false, err
	}
	if n, err := again.RowsAffected(); n > 0 || err != nil {
		return n > 0, err
	}
	return l.UniqueRow.TryLock(ctx)
}

// Unlock gives it back once, and is the last to do so when it has been called as often as TryLock has succeeded.
func (l CountedRow) Unlock(ctx context.Context) error {
	_, err := l.DB.ExecContext(ctx, "UPDATE "+RowTable+" SET count = count - 1 WHERE lock_type = ? AND owner_id = ?",
		l.Type, l.Owner)
	if err != nil {
		return err
	}
	_, err = l.DB.ExecContext(ctx, "DELETE FROM "+RowTable+" WHERE lock_type = ? AND owner_id = ? AND count <= 0",
		l.Type, l.Owner)
	return err
}

// ReapRows deletes rows that are older than the longest work. It assumes that no work takes longer. It breaks when some
// does: it deletes the lock of an owner that lives, and another enters beside it.
func ReapRows(ctx context.Context, db *sql.DB, longest time.Duration) (reaped int64, err error) {
	result, err := db.ExecContext(ctx,
		"DELETE FROM "+RowTable+" WHERE update_time < CURRENT_TIMESTAMP(3) - INTERVAL ? "+
			"MICROSECOND", longest.Microseconds())
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Numbers of MySQL's errors.
const (
	DuplicateKey    = 1062
	LockWaitTimeout = 1205
	Deadlock        = 1213
)

// IsNumber reports whether an error is MySQL's of that number.
func IsNumber(err error, number uint16) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == number
}
