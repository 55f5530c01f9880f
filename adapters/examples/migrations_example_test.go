package examples

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	pgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"

	"github.com/holdfast-go/holdfast/adapters/gooselock"
	"github.com/holdfast-go/holdfast/adapters/migratelock"
)

func Example_goose() {
	ctx, client, db := context.Background(), onRedis(), database()
	defer client.Close(ctx)
	defer db.Close()
	migrations := fstest.MapFS{"1_tickets.sql": {Data: []byte("-- +goose Up\nCREATE TABLE goose_tickets (n int);\n")}}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations,
		goose.WithLocker(gooselock.New(client, "goose/shop")))
	if err != nil {
		log.Fatal(err)
	}
	results, err := provider.Up(ctx)
	fmt.Println(len(results), err)
	results, err = provider.Up(ctx)
	fmt.Println(len(results), err)
	// Output:
	// 1 <nil>
	// 0 <nil>
}

func Example_golangMigrate() {
	client, db := onRedis(), database()
	defer client.Close(context.Background())
	source, err := iofs.New(fstest.MapFS{"1_tickets.up.sql": {Data: []byte("CREATE TABLE migrate_tickets (n int)")}},
		".")
	if err != nil {
		log.Fatal(err)
	}
	driver, err := pgx.WithInstance(db, &pgx.Config{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := migrate.NewWithInstance("memory", source, "shop", migratelock.Wrap(driver, client, "migrate/shop"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Up())
	fmt.Println(m.Up())
	fmt.Println(errors.Join(m.Close()))
	// Output:
	// <nil>
	// no change
	// <nil>
}
