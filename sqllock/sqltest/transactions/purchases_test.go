package transactions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/played"
)

const (
	items     = 100
	shops     = 3  // processes
	tills     = 25 // goroutines in each
	customers = 20 // one after another at each till
)

// 1,500 customers in 3 processes want to buy 100 items: exactly 100 are sold.
func purchases(t *testing.T, d database) {
	db := migrated(t, d)
	stocked := fmt.Sprintf("INSERT INTO stock VALUES (%d)", items)
	execute(t, db, "CREATE TABLE stock (n INT)", stocked, "CREATE TABLE sales (till INT)")
	var open []*played.Process
	for range shops {
		open = append(open, start(t, "shop", d))
	}
	for _, one := range open {
		one.Cue()
	}
	for _, one := range open {
		one.Ends(t)
	}
	mustEqual(t, "items left", number(t, db, "SELECT n FROM stock"), 0)
	mustEqual(t, "sales", number(t, db, "SELECT count(*) FROM sales"), items)
}

// shop is the part of a process that serves its customers.
func shop(d database) error {
	db, err := d.pool()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := awaitCue(); err != nil {
		return err
	}
	db.SetMaxOpenConns(tills)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	failed := make(chan error, tills)
	for till := range tills {
		go func() { failed <- serve(ctx, d, db, till) }()
	}
	var all []error
	for range tills {
		all = append(all, <-failed)
	}
	return errors.Join(all...)
}

var errSoldOut = errors.New("sold out")

// serve sells to customers, one after another: it reads how many there are and writes back one less, which goes wrong
// for two at once.
func serve(ctx context.Context, d database, db *sql.DB, till int) error {
	for range customers {
		err := sqllock.InTx(ctx, db, "stock", func(ctx context.Context, tx *sql.Tx) error {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT n FROM stock").Scan(&n); err != nil {
				return err
			}
			if n == 0 {
				return errSoldOut
			}
			if _, err := tx.ExecContext(ctx, d.text("UPDATE stock SET n = ?"), n-1); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, d.text("INSERT INTO sales VALUES (?)"), till)
			return err
		})
		if err != nil && !errors.Is(err, errSoldOut) {
			return err
		}
	}
	return nil
}
