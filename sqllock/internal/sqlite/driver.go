package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver is a client of the locks in an SQLite database.
type Driver struct {
	db        *sql.DB // to be closed with the driver; nil when it is the caller's
	conn      *connection
	database  *database
	client    *client
	notifier  notifier
	followers driver.Followers
	machine   machine
	traits    driver.Traits
	keep      time.Duration
	closing   sync.Once
	closed    error
	writes    int   // operations since the last sweep; guarded by the connection
	swept     fence // after which sweeping goes on; likewise
}

// New makes a driver on a database that the caller has opened. Tokens are kept for the duration keep after their lock's
// last use.
func New(ctx context.Context, db *sql.DB, keep time.Duration) (*Driver, error) {
	m, err := thisMachine()
	if err != nil {
		return nil, fmt.Errorf("find out the boot ID and the time namespace of this process: %w; mount /proc", err)
	}
	d := &Driver{machine: m, keep: keep}
	d.followers.Wait, d.followers.Listen, d.followers.Changed = d.wait, d.listen, d.changed
	if d.conn, err = openConnection(ctx, db); err != nil {
		return nil, explain(err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(explain(err), d.Close())
	}
	return d, nil
}

func (d *Driver) prepare(ctx context.Context) (err error) {
	if d.database, err = prepare(ctx, d.conn, d.machine.boot); err != nil {
		return err
	}
	if d.conn.writers, err = openWriterQueue(d.database); err != nil {
		return err
	}
	if err := d.setUp(ctx); err != nil {
		return err
	}
	d.traits = traits
	d.traits.Store = d.identity()
	d.database.noteSideFiles()
	if d.client, err = join(d.database, d.notifier.wake); err != nil {
		return err
	}
	d.writes = sweepEvery
	return d.transact(ctx, func(*tx) error { return nil })
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits { return d.traits }

// Inherit implements [driver.Inheriter].
func (d *Driver) Inherit() []*os.File { return d.client.files() }

// identity names the store: it is the path of the file, without symbolic links.
func (d *Driver) identity() string {
	path, _ := filepath.Abs(d.database.path) // it fails where there is no working directory any more
	return "file:" + cmp.Or(path, d.database.path)
}

// closeLimit bounds how long Close asks whether its client can be forgotten. If there is no answer, a sweep forgets it.
const closeLimit = time.Second

// Close implements [driver.Driver]. It ends the client, and with it the claims that are not detached, unless a child
// keeps the files open.
func (d *Driver) Close() error {
	d.closing.Do(func() {
		d.followers.Close()
		d.closed = d.close()
	})
	return d.closed
}

func (d *Driver) close() error {
	d.conn.retire() // before it asks: what is requested meanwhile would be a claim of a client without files
	forget := d.client != nil && !d.hasClaims()
	err := d.conn.close()
	if d.client != nil {
		d.client.leave(forget)
	}
	if d.database != nil {
		err = errors.Join(err, d.database.folder.close())
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	return err
}

// hasClaims reports whether something in the database refers to this client, whose connection has retired.
func (d *Driver) hasClaims() bool {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var found *row
	t := &tx{d: d}
	look := func(t *tx) (err error) {
		if err = t.check(); err == nil {
			found, err = t.first(claimsOf, d.client.id, 1)
		}
		return err
	}
	err := d.conn.untilFree(ctx, func() error {
		return d.conn.once(ctx, func(ctx context.Context) error { return t.run(ctx, look) }, func() {})
	})
	return err != nil || found != nil
}

var _ interface {
	driver.Driver
	driver.Lister
	driver.Checker
	driver.Reaper
	driver.Inheriter
} = (*Driver)(nil)
