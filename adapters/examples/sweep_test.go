package examples

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	migrated "github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/stub"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"

	"github.com/holdfast-go/holdfast/holdfasttest"
)

// Goose asks the database with its context before each migration, so it stops when the lock is lost between two.
func TestGooseStopsWithItsLock(t *testing.T) {
	db := database()
	defer db.Close()
	runs := 0
	holdfasttest.Sweep(t, func(ctx context.Context, r *holdfasttest.Run) error {
		runs++
		writes := func(table string) *goose.GoFunc {
			return &goose.GoFunc{RunDB: func(context.Context, *sql.DB) error { return r.Write(table, 0) }}
		}
		provider, err := goose.NewProvider(goose.DialectPostgres, db, nil,
			goose.WithTableName(fmt.Sprintf("goose_sweep_%d", runs)), goose.WithDisableGlobalRegistry(true),
			goose.WithGoMigrations(goose.NewGoMigration(1, writes("orders"), nil),
				goose.NewGoMigration(2, writes("tickets"), nil)))
		if err != nil {
			return err
		}
		_, err = provider.Up(ctx)
		return err
	})
	if runs != 4 {
		t.Errorf("the section ran %d times; want once undisturbed, and lost before and after each of two writes", runs)
	}
}

// Golang-migrate takes no context, so it goes on with the next migration when its lock is lost, and is found.
func TestGolangMigrateGoesOn(t *testing.T) {
	files := fstest.MapFS{
		"1_orders.up.sql":  {Data: []byte("CREATE TABLE orders (n int)")},
		"2_tickets.up.sql": {Data: []byte("CREATE TABLE tickets (n int)")},
	}
	found := judged{TB: t}
	holdfasttest.Sweep(&found, func(ctx context.Context, r *holdfasttest.Run) error {
		source, err := iofs.New(files, ".")
		if err != nil {
			return err
		}
		driver, err := stub.WithInstance(nil, &stub.Config{})
		if err != nil {
			return err
		}
		m, err := migrate.NewWithInstance("memory", source, "shop", written{driver, r})
		if err != nil {
			return err
		}
		return errors.Join(m.Up(), ctx.Err())
	})
	const want = `the lock was lost after step 1: "CREATE TABLE tickets (n int)" was written without a token`
	if !strings.Contains(strings.Join(found.said, "\n"), want) {
		t.Errorf("Sweep said %q; want among it %q", found.said, want)
	}
}

// A written database has each migration written through a run.
type written struct {
	migrated.Driver
	run *holdfasttest.Run
}

func (w written) Run(migration io.Reader) error {
	text, err := io.ReadAll(migration)
	return errors.Join(err, w.run.Write(string(text), 0))
}

// A judged test notes what it is failed with.
type judged struct {
	testing.TB
	said []string
}

func (j *judged) Helper() {}

func (j *judged) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}
