package transactions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/memlock"
)

// A resource in a database: the late write of a holder that was paused is refused, in the transaction that would write.
func Example_fence() {
	folder, err := os.MkdirTemp("", "reports")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	db, err := sql.Open("sqlite", filepath.Join(folder, "reports.db")) // or "mysql", or "pgx"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx := context.Background()
	_, err = db.ExecContext(ctx, "CREATE TABLE reports AS SELECT 'empty' AS text")
	late, now, failed := pausedAndNext(ctx)
	if err := errors.Join(err, failed, fence.Migrate(ctx, db)); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(report(ctx, db, now, "new"))
	fmt.Println(errors.Is(report(ctx, db, late, "old"), fence.ErrStale))
	var text string
	fmt.Println(db.QueryRowContext(ctx, "SELECT text FROM reports").Scan(&text), text)
	// Output:
	// <nil>
	// true
	// <nil> new
}

// report writes in the name of a holder.
func report(ctx context.Context, db *sql.DB, holder *holdfast.Lease, text string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it does nothing after Commit
	if err := fence.SQL(ctx, tx, "report", holder.Token()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE reports SET text = ?", text); err != nil {
		return err
	}
	return tx.Commit()
}

// pausedAndNext returns two leases of one lock. The first holder was paused until its lease was over, which it has not
// noticed; the second has the lock.
func pausedAndNext(ctx context.Context) (late, now *holdfast.Lease, err error) {
	engine := memlock.New() // or any other
	first, second := holdfast.New(engine), holdfast.New(engine)
	if late, err = first.Mutex("report").Lock(ctx); err != nil {
		return nil, nil, err
	}
	queue, err := second.Queue(ctx, "report")
	if err != nil {
		return nil, nil, err
	}
	if err := second.Break(ctx, "report", queue[0].ID); err != nil { // as the end of its TTL would
		return nil, nil, err
	}
	now, err = second.Mutex("report").Lock(ctx)
	return late, now, err
}
