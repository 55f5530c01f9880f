package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"

	_ "modernc.org/sqlite"
)

// A program that has its data in SQLite keeps its locks there, too.
func Example_ownDatabase() {
	folder, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	ctx := context.Background()
	d, err := drivertest.Wrap(sqllock.New(ctx, db, sqllock.SQLite, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	client := holdfast.New(d)
	defer client.Close(ctx)

	err = client.Mutex("stock").Do(ctx, func(context.Context, *holdfast.Lease) error {
		fmt.Println("nobody else counts the stock now")
		return nil
	})
	fmt.Println(err)
	// Output:
	// nobody else counts the stock now
	// <nil>
}
