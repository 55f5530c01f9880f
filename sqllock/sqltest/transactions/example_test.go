package transactions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/sqllock"
)

// The last ticket is sold once: who reads how many are left has the lock until the sale is committed.
func ExampleInTx() {
	folder, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db")) // or "mysql", or "pgx"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx := context.Background()
	if err := errors.Join(sqllock.MigrateInTx(ctx, db), makeTickets(ctx, db)); err != nil {
		fmt.Println(err)
		return
	}

	sell := func(ctx context.Context, tx *sql.Tx) error {
		var left int
		if err := tx.QueryRowContext(ctx, "SELECT n FROM tickets").Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			return errors.New("sold out")
		}
		_, err := tx.ExecContext(ctx, "UPDATE tickets SET n = n - 1")
		return err
	}
	for range 2 {
		err := sqllock.InTx(ctx, db, "tickets", sell)
		fmt.Println(err, errors.Is(err, holdfast.ErrNotAcquired))
	}
	// Output:
	// <nil> false
	// sold out false
}

func makeTickets(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE tickets AS SELECT 1 AS n")
	return err
}
