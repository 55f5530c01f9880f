package mariadb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"

	"github.com/go-sql-driver/mysql"
)

// A server whose certificate a private authority has signed.
func Example_tls() {
	ctx := context.Background()
	sqllock.RegisterTLS(mysql.RegisterTLSConfig) // once
	client, err := holdfast.Open(ctx, "mysql://shop:secret@db.example.org/shop?ca=/etc/shop/ca.pem")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
}

// A program that has its data in MariaDB or MySQL keeps its locks there, too, over the pool that it has.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("mysql", "shop:secret@tcp(db.example.org)/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if err := sqllock.Migrate(ctx, db, sqllock.MySQL); err != nil { // once, or: holdfast migrate
		fmt.Println(err)
		return
	}
	d, err := drivertest.Wrap(sqllock.New(ctx, db, sqllock.MySQL, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	client := holdfast.New(d)
	defer client.Close(ctx)

	err = client.Mutex("stock").Do(ctx, func(ctx context.Context, l *holdfast.Lease) error {
		const sell = "UPDATE stock SET sold = sold + 1, fence = ? WHERE item = 7 AND fence <= ?"
		_, err := db.ExecContext(ctx, sell, l.Token(), l.Token())
		return err
	})
	fmt.Println(err)
}
