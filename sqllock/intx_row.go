package sqllock

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A txLock is a lock that lasts as long as a transaction: the lock of the row with its name. Rows are made outside of
// the transactions that lock them, and stay. If a transaction found its row missing and then inserted it, two that do
// so at the same time would be a deadlock.
type txLock struct {
	db   *sql.DB
	kind dbms.Kind
	name string
	how  RowLock

	change bool // who locks the row has to change it, so that other servers know
}

// maxRowName is the longest name that fits in the table.
const maxRowName = 1024

func newTxLock(ctx context.Context, db *sql.DB, name string, how []RowLock) (*txLock, error) {
	l := &txLock{db: db, name: name}
	for _, one := range how {
		l.how |= one
	}
	if err := l.how.valid(); err != nil {
		return nil, err
	}
	if name == "" || len(name) > maxRowName {
		return nil, fmt.Errorf("%w: it has %d bytes; 1 to %d fit in a row",
			driver.ErrInvalidName, len(name), maxRowName)
	}
	var err error
	if l.kind, err = dbms.Of(ctx, db); err != nil {
		return nil, l.failed(ctx, err)
	}
	if l.kind == dbms.MySQL || l.kind == dbms.MariaDB {
		if l.change, err = dbms.SeveralWriters(ctx, db); err != nil {
			return nil, l.failed(ctx, err)
		}
		if l.change {
			l.how &^= Share // who changes the row cannot share it
		}
	}
	if l.kind == dbms.SQLite && l.how != Exclusive {
		return nil, fmt.Errorf("lock %q in a transaction on SQLite: %w: it can only be exclusive, and waited for",
			name, errors.ErrUnsupported)
	}
	return l, nil
}

// isolation lets each statement see what was committed before it, rather than what was committed before the wait for
// the lock began.
func (l *txLock) isolation() *sql.TxOptions {
	if l.kind == dbms.SQLite {
		return nil // its transactions see what was committed before their first statement, which is the one that locks
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
}

// errNoRow says that there is no row to lock; or, with SkipLocked, that it was skipped.
var errNoRow = errors.New("no row has this name")

// take locks the row.
func (l *txLock) take(ctx context.Context, tx *sql.Tx) error {
	if l.kind == dbms.SQLite {
		_, err := tx.ExecContext(ctx, "UPDATE "+rowTable+" SET name = name") // of no rows: that it writes is what locks
		return err
	}
	var one int
	err := tx.QueryRowContext(ctx, l.find()+" "+l.how.on(l.kind), l.args()...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return errNoRow
	}
	if err == nil && l.change {
		_, err = tx.ExecContext(ctx, l.update())
	}
	return err
}

// update is a statement that gives the row another time than it has.
func (l *txLock) update() string {
	return "UPDATE " + rowTable + " SET made = " +
		"IF(made = CURRENT_TIMESTAMP, made - INTERVAL 1 SECOND, CURRENT_TIMESTAMP) WHERE name = " + l.value()
}

func (l *txLock) find() string { return "SELECT 1 FROM " + rowTable + " WHERE name = " + l.value() }

// value is the name as a statement has it. On MySQL it is a literal, because a statement with arguments takes two
// more round trips there.
func (l *txLock) value() string {
	if l.kind == dbms.Postgres {
		return "$1"
	}
	return "x'" + hex.EncodeToString([]byte(l.name)) + "'"
}

func (l *txLock) args() []any {
	if l.kind == dbms.Postgres {
		return []any{[]byte(l.name)}
	}
	return nil
}

// makeRow makes the row unless there is one, and tells whether to try to lock it again. With SkipLocked the row may
// be there, and was skipped because it is taken. makeRow looks first, because an INSERT of a row that is taken would
// wait for it, and so would one of a row that somebody else is making.
func (l *txLock) makeRow(ctx context.Context, conn *sql.Conn) (again bool, err error) {
	err = dbms.InTx(ctx, conn, func(tx *sql.Tx) error {
		look, found := l.find(), errNoRow // if there is a row, somebody else has made it
		switch {
		case l.how.waits():
		case l.kind == dbms.Postgres:
			found = errTaken
			if _, err := tx.ExecContext(ctx, limitMaking); err != nil {
				return err
			}
		default: // InnoDB shows what is being made to those who lock
			look += " " + (l.how&^SkipLocked | NoWait).on(l.kind)
		}
		var one int
		err := tx.QueryRowContext(ctx, look, l.args()...).Scan(&one)
		switch {
		case err == nil:
			return found
		case errors.Is(err, sql.ErrNoRows):
			_, err = tx.ExecContext(ctx, l.insert(), l.args()...)
		}
		return err
	})
	switch err {
	case errTaken:
		return false, l.notAcquired(errTaken)
	case nil, errNoRow:
		return true, l.notAcquired(errNoRow)
	}
	return l.repeats(err), l.failed(ctx, err)
}

// limitMaking is for how long those who do not wait for a lock wait for somebody who makes its row on PostgreSQL.
// Nobody sees that row meanwhile.
const limitMaking = "SET LOCAL lock_timeout = '100ms'"

func (l *txLock) insert() string {
	into := "INTO " + rowTable + " (name) VALUES (" + l.value() + ")"
	if l.kind == dbms.Postgres {
		return "INSERT " + into + " ON CONFLICT DO NOTHING"
	}
	return "INSERT IGNORE " + into
}
