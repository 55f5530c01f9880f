package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver is a client of the locks in an SQLite database.
type Driver struct {
	conn      *connection
	database  *database
	client    *client
	notifier  notifier
	followers driver.Followers
	lookout   driver.Lookout
	clock     string // what deadlines count from
	traits    driver.Traits
	keep      time.Duration
	closed    func() error // closes it once
	writes    int          // operations since the last sweep; guarded by the connection
	swept     fence        // of the last sweep; likewise
}

// New makes a driver on a database that the caller has opened. Tokens are kept for the duration keep after their
// lock's last use.
func New(ctx context.Context, db *sql.DB, keep time.Duration) (driver.Driver, error) {
	clock, err := clockID()
	if err != nil {
		return nil, fmt.Errorf("find out the boot ID: %w; mount /proc", err)
	}
	d := &Driver{clock: clock, keep: keep, traits: traits}
	d.client = newClient(d.notifier.wake)
	d.closed = sync.OnceValue(d.close)
	d.followers.Wait, d.followers.Listen, d.followers.Changed = d.wait, d.listen, d.changed
	d.lookout.Digests, d.lookout.Pace = d.digests, watchPace
	if d.conn, err = openConnection(ctx, db); err != nil {
		return nil, explain(err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(explain(err), d.Close())
	}
	return d, nil
}

func (d *Driver) prepare(ctx context.Context) (err error) {
	if d.database, err = prepare(ctx, d.conn, d.clock); err != nil {
		return err
	}
	if f, err := openFolder(d.database.place, d.database.share); err == nil {
		d.use(f)
	} // else setUp makes it, or finds out what is wrong
	if err := d.setUp(ctx); err != nil {
		return err
	}
	d.traits.Store = "file:" + d.database.path
	d.database.noteSideFiles()
	return nil
}

// use has the clients meet in a folder.
func (d *Driver) use(f *folder) { d.database.folder, d.conn.turns = f, turnsIn(f) }

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits { return d.traits }

// Inherit implements [driver.Inheriter].
func (d *Driver) Inherit() []*os.File { return d.client.files() }

// closeLimit bounds how long Close asks whether its client can be forgotten. If there is no answer, a sweep forgets
// it.
const closeLimit = time.Second

// Close implements [driver.Driver]. It ends the client, and with it the claims that are not detached, unless a child
// keeps the files open.
func (d *Driver) Close() error { return d.closed() }

func (d *Driver) close() error {
	d.followers.Close()
	d.conn.end(driver.ErrClosed)
	<-d.conn.free // before it asks: what is requested meanwhile would be a claim of a client without files
	forget := d.traits.Store != "" && !d.hasClaims()
	err := d.conn.close()
	d.client.leave(forget)
	if d.database != nil && d.database.folder != nil {
		err = errors.Join(err, d.database.folder.close())
	}
	return err
}

// hasClaims reports whether something in the database refers to this client, whose connection nobody else gets any
// more.
func (d *Driver) hasClaims() bool {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var found *row
	t := &tx{d: d}
	look := func(t *tx) {
		t.open()
		found = t.first("of_client", d.client.id, 1)
	}
	once := func() error {
		return d.conn.once(ctx, func(ctx context.Context) error { return t.run(ctx, look) }, func() {})
	}
	err := d.conn.inTurn(ctx, func() {}, once)
	return err != nil || found != nil
}

var _ interface {
	driver.Driver
	driver.Lister
	driver.Checker
	driver.Reaper
	driver.Inheriter
} = (*Driver)(nil)
