package txtest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/sqllock"
)

const (
	items     = 100
	shops     = 3  // processes
	tills     = 25 // goroutines in each
	customers = 20 // one after another at each till
)

// The test binary is a shop, too, when this variable has the database.
const shopVariable = "HOLDFAST_TEST_SHOP"

func TestMain(m *testing.M) {
	driver, dsn, isShop := strings.Cut(os.Getenv(shopVariable), " ")
	if !isShop {
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin) // until all shops may open
	if err == nil {
		err = shop(database{driver: driver, dsn: dsn})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// 1,500 customers in 3 processes want to buy 100 items: exactly 100 are sold.
func purchases(t *testing.T, d database) {
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE stock (n INT)", fmt.Sprintf("INSERT INTO stock VALUES (%d)", items), "CREATE TABLE sales (till INT)")
	var open []func()
	for range shops {
		open = append(open, start(t, d))
	}
	var closed sync.WaitGroup
	for _, one := range open {
		closed.Go(one)
	}
	closed.Wait()
	mustEqual(t, "items left", number(t, db, "SELECT n FROM stock"), 0)
	mustEqual(t, "sales", number(t, db, "SELECT count(*) FROM sales"), items)
}

// start starts a shop, and returns what opens it and waits until it has closed.
func start(t *testing.T, d database) (open func()) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), shopVariable+"="+d.driver+" "+d.dsn)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil {
		t.Fatalf("the shop says %q, %v", line, err)
	}
	return func() {
		in.Close()
		complaint, _ := io.ReadAll(said)
		if err := cmd.Wait(); err != nil {
			t.Errorf("a shop failed: %v: %s", err, complaint)
		}
	}
}

// shop serves all its customers.
func shop(d database) error {
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
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
