package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/format"
)

// A Driver keeps queues in an SQLite database. It implements [driver.Driver] and all of its abilities but
// [driver.Proposer].
type Driver struct {
	db     *sql.DB
	owned  bool // opened by a URL, so closed with the driver
	conn   *sql.Conn
	turn   turn // whoever has it uses conn
	stmts  map[statement]*sql.Stmt
	path   string // of the database
	client *client
	posts  posts
	format int // the version of the stored format that is written

	swept  time.Time // when leftovers were last swept; used with the turn
	closed context.Context
	close  context.CancelFunc
}

// New returns a driver on a database that was opened through a database/sql driver for SQLite, such as modernc.org/sqlite
// or github.com/mattn/go-sqlite3. It uses one connection of db until it is closed, makes the tables it needs, and files
// beside the database. Closing the driver does not close db.
func New(ctx context.Context, db *sql.DB) (*Driver, error) {
	d := &Driver{db: db, turn: newTurn(), stmts: make(map[statement]*sql.Stmt), format: format.SQLite}
	d.closed, d.close = context.WithCancel(context.Background())
	if err := d.prepare(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// prepare connects, checks that the file is one that can be locked, makes the tables, and registers the client.
func (d *Driver) prepare(ctx context.Context) (err error) {
	if d.conn, err = d.db.Conn(ctx); err != nil {
		return err
	}
	if d.path, err = d.file(ctx); err != nil {
		return err
	}
	if err := refuseNetwork(d.path); err != nil {
		return err
	}
	d.turn = turnAt(d.path)
	if err := d.configure(ctx); err != nil {
		return err
	}
	if err := d.do(ctx, (*tx).makeTables); err != nil {
		return err
	}
	d.client, err = register(d.path + "-clients")
	return err
}

// file asks which file the database is.
func (d *Driver) file(ctx context.Context) (string, error) {
	var n int
	var name, path string
	if err := d.conn.QueryRowContext(ctx, "PRAGMA database_list").Scan(&n, &name, &path); err != nil {
		return "", fmt.Errorf("is this an SQLite database? %w", err)
	}
	if path == "" {
		return "", errors.New("the database is in memory, where no other process can share it; use a file, or mem: for this process")
	}
	return path, nil
}

// configure sets what the connection needs. Waiting for others is ours, since only we know for how long.
func (d *Driver) configure(ctx context.Context) error {
	for _, pragma := range []string{"busy_timeout = 20", "journal_mode = WAL", "synchronous = FULL"} {
		err := d.untilFree(ctx, func() error {
			_, err := d.conn.ExecContext(ctx, "PRAGMA "+pragma)
			return err
		})
		if err != nil {
			return fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
	}
	return nil
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend: "file", MinTTL: 100 * time.Millisecond, MaxTTL: 1000 * time.Hour * 24, MaxName: 1 << 16,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
	}
}

// Inherit implements [driver.Inheriter]: claims live while any process has this client's file open.
func (d *Driver) Inherit() []*os.File { return d.client.files() }

// Close implements [driver.Driver]. Claims that are not detached end with it, as the client is gone. Closing again does nothing.
func (d *Driver) Close() error {
	if d.closed.Err() != nil {
		return nil
	}
	d.close()
	var errs []error
	if d.client != nil {
		errs = append(errs, d.client.close())
	}
	<-d.turn // nobody uses the connection any more, and nobody will
	defer d.turn.next()
	if d.conn != nil {
		for _, s := range d.stmts {
			errs = append(errs, s.Close())
		}
		errs = append(errs, d.conn.Close())
	}
	if d.owned {
		errs = append(errs, d.db.Close())
	}
	return errors.Join(errs...)
}

var _ interface {
	driver.Driver
	driver.Waiter
	driver.Renewer
	driver.Watcher
	driver.Lister
	driver.Breaker
	driver.Revoker
	driver.Checker
	driver.Inheriter
} = (*Driver)(nil)
