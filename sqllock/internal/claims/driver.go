package claims

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver is a client of the locks in a database. It implements all abilities of package driver but [driver.Proposer]
// and [driver.Inheriter].
type Driver struct {
	dialect  *Dialect
	way      *way
	keep     time.Duration
	owned    *sql.DB     // to be closed with the driver, or nil
	session  *session    // for requests
	renewals *session    // for renewals; the same where the caller's pool is small
	mending  atomic.Bool // bells, on behalf of renewals
	resting  resting     // connections on which nobody waits just now
	posts    posts
	sweeper  sweeper
	others   Others
	closing  sync.Once
}

// New makes a driver on a database that the caller has opened, in which [Migrate] has made the tables. Tokens are kept for
// the duration keep after their lock's last use.
func New(ctx context.Context, db *sql.DB, d *Dialect, keep time.Duration, p Pooler) (*Driver, error) {
	w, err := findWay(ctx, db, d, p)
	if err != nil {
		return nil, err
	}
	l := &Driver{dialect: d, way: w, keep: keep, session: newSession(w)}
	l.renewals = l.session
	if most := db.Stats().MaxOpenConnections; most == 0 || most > smallPool {
		l.renewals = newSession(w)
		l.renewals.openTime = openTime
	}
	l.resting.open = func(ctx context.Context) (*conn, error) { return openConn(ctx, w) }
	if err := inTurn(ctx, l.session, func(context.Context, *conn) error { return nil }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.sweeper.start(l)
	return l, nil
}

// smallPool is how many connections a caller's pool must have more than, so that renewals get one of their own.
const smallPool = 3

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits { return d.dialect.traits() }

// Close implements [driver.Driver]. Claims live on until their TTL.
func (d *Driver) Close() (err error) {
	d.closing.Do(func() {
		d.sweeper.stop()
		d.session.close()
		if d.renewals != d.session {
			d.renewals.close()
		}
		d.posts.close()
		d.resting.close()
		if d.owned != nil {
			err = d.owned.Close()
		}
	})
	return err
}

// Others are rows in the same database that a Reap removes, too: step by step from First on, until no name follows.
type Others struct {
	Kind, First string
	Step        func(ctx context.Context, conn *sql.Conn, from string, age time.Duration) (names []string, next string, err error)
}

// AlsoReap lets Reap remove others. It is called before the driver is used.
func (d *Driver) AlsoReap(others Others) { d.others = others }

// Own lets Close close the database, too.
func (d *Driver) Own(db *sql.DB) { d.owned = db }

var _ interface {
	driver.Driver
	driver.Waiter
	driver.Renewer
	driver.Watcher
	driver.Lister
	driver.Breaker
	driver.Revoker
	driver.Checker
	driver.Reaper
} = (*Driver)(nil)
