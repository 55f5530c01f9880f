package sessions

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A program whose database people watch with their own tools keeps its lock where those show it: in pg_locks.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://shop@db.example.org/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if err := sqllock.Migrate(ctx, db, sqllock.Postgres); err != nil { // once, or: holdfast migrate
		fmt.Println(err)
		return
	}
	d, err := drivertest.Wrap(sqllock.New(ctx, db, sqllock.Postgres, &sqllock.Options{Mode: sqllock.Session}))
	if err != nil { // such as a proxy that pools transactions
		fmt.Println(err)
		return
	}
	defer d.Close()
	client := holdfast.New(d)
	defer client.Close(ctx)

	err = client.Mutex("nightly").Do(ctx, func(ctx context.Context, l *holdfast.Lease) error {
		_, err := db.ExecContext(ctx, "UPDATE reports SET done = now(), fence = $1 WHERE fence <= $1", l.Token())
		return err
	})
	fmt.Println(err)
}
