package shedlock

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A job that was moved from Java to Go never runs beside what is left of it there, under @SchedulerLock(name =
// "report", lockAtLeastFor = "1m").
func Example() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://shop@db.example.org/shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	d, err := drivertest.Wrap(sqllock.New(ctx, db, sqllock.Postgres, &sqllock.Options{Layout: sqllock.ShedLock}))
	if err != nil { // such as a table that is missing, with what makes it
		fmt.Println(err)
		return
	}
	defer d.Close()
	client := holdfast.New(d)
	defer client.Close(ctx)

	lease, err := client.Mutex("report", holdfast.WithMinHold(time.Minute)).TryLock(ctx)
	if err != nil { // holdfast.ErrNotAcquired: it runs elsewhere, or has just run
		fmt.Println(err)
		return
	}
	defer lease.Release(ctx)
	fmt.Println("reporting")
}
