package health

import (
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast-go/holdfast/internal/dbms"
)

// strays are what PostgreSQL says of statements that were prepared in another session.
var strays = []string{"26000", "42P05", "08P01"}

// Stray reports whether an error means that a statement went to another session than the one before it.
func Stray(err error) bool { return slices.Contains(strays, dbms.Code(err)) }

// Pooled reports whether a proxy gives each transaction another session, by a query for the number of the session. Such a
// proxy gives the session of one connection to another while the first one is idle; so two connections have the same
// session, or the first one gets another when its own is in use.
func Pooled(ctx context.Context, db *sql.DB, number string) (bool, error) {
	pooled, err := pooled(ctx, db, number)
	if Stray(err) {
		return true, nil
	}
	return pooled, err
}

func pooled(ctx context.Context, db *sql.DB, number string) (bool, error) {
	var conns [2]*sql.Conn
	var numbers [2]int64
	for i := range conns {
		conn, err := db.Conn(ctx)
		if err != nil {
			return false, err
		}
		defer conn.Close()
		if err := conn.QueryRowContext(ctx, number).Scan(&numbers[i]); err != nil {
			return false, err
		}
		conns[i] = conn
	}
	if numbers[0] == numbers[1] {
		return true, nil
	}
	tx, err := conns[1].BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // it did nothing
	var within, meanwhile int64
	if err := tx.QueryRowContext(ctx, number).Scan(&within); err != nil {
		return false, err
	}
	if err := conns[0].QueryRowContext(ctx, number).Scan(&meanwhile); err != nil {
		return false, err
	}
	return within != numbers[1] || meanwhile != numbers[0], nil
}
