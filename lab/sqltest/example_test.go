package sqltest_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/sqllock"
	_ "modernc.org/sqlite"
)

// Locks in a database that the program has open anyway.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	locks, err := sqllock.New(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()
	client := holdfast.New(locks)
	defer client.Close(ctx)

	err = client.Mutex("import").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		fmt.Println("importing, and nobody else is")
		return nil
	})
	fmt.Println(err)
	// Output:
	// importing, and nobody else is
	// <nil>
}
