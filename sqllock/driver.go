package sqllock

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/claims"
	"github.com/holdfast-go/holdfast/sqllock/internal/sessions"
)

// Options adjust a driver. The zero value, or nil, is right for most.
type Options struct {
	// Keep is how long a lock's last token is remembered after its last use: 30 days when zero. It matters only if the
	// wall clock is set back by more: tokens grow with the clock.
	Keep time.Duration

	// Mode is how locks are kept: as [Claims] unless given.
	Mode Mode

	// Layout is which locks of the server names stand for in the mode [Session]: those of Holdfast unless given.
	Layout Layout

	// Pooler is what a proxy between the program and the server pools, which New finds out unless it is given. It takes two
	// connections of the pool to find out, so give it where the pool allows only one.
	Pooler Pooler

	// Connections is how many connections a client has for its requests at most: 4 when zero. It opens another one only when
	// a request would have to wait for those that it has, and closes it when it was idle for a while. It concerns [MySQL] and
	// [Postgres], and locks that are kept as [Claims].
	Connections int

	// Waits is how many connections a client waits on at most: 8 when zero. Each is for one lock, and wakes who waits for it at
	// once. Where it waits for more locks, it asks for news of all the others together, some fifty times a second. It concerns
	// the same as Connections.
	Waits int
}

// A Pooler is what a proxy pools, such as PgBouncer.
type Pooler string

const (
	// PoolsSessions is right without a proxy, too: a connection has a session of the server for itself.
	PoolsSessions Pooler = "session"

	// PoolsTransactions gives each transaction another session of the server, which other programs use as well. Nothing is
	// changed in these sessions. Who waits looks now and then, so waiting is less prompt. The mode [Session] is refused.
	PoolsTransactions Pooler = "transaction"
)

// A Mode is how a server keeps locks. Locks of different modes do not exclude each other.
type Mode string

const (
	// Claims are rows in a queue: first come, first served, with everything that Holdfast can do.
	Claims Mode = "claims"

	// Session is GET_LOCK or pg_advisory_lock on a connection for each claim, which the server ends when it has been idle
	// for the TTL. There are only mutexes; who waits is served in the server's order, and not listed. It is refused through
	// a proxy that pools transactions. SQLite has no such locks.
	Session Mode = "session"
)

// A Layout is which locks of a server names stand for.
type Layout string

// RawLayout shares the locks of other programs that use pg_advisory_lock or GET_LOCK themselves. On [Postgres] a name is the
// number of a lock, in decimal, as 1764327054 or -5: see [GolangMigrateKey] and [RailsMigrateKey]. On [MySQL] it is the name of a
// lock, of up to 64 characters, for the whole server, in which case does not count. Other names are an error that matches
// [holdfast.ErrInvalidName]. Programs that hold such a lock have no TTL and no token.
//
// [holdfast.ErrInvalidName]: https://pkg.go.dev/github.com/holdfast-go/holdfast#ErrInvalidName
const RawLayout Layout = "raw"

const defaultKeep = 30 * 24 * time.Hour

// A Driver is a client of the locks in an SQLite database. It implements all abilities of package driver but
// [driver.Proposer].
type Driver struct {
	dialect *Dialect
	db      *sql.DB // to be closed with the driver; nil when it is the caller's
	session *session
	place   *place
	client  *client
	posts   posts
	machine machine
	keep    time.Duration
	closing sync.Once
	closed  error
	writes  int   // since the last sweep; guarded by the session's turn
	looked  fence // at which sweeping goes on; likewise
}

// New makes a driver on a database that the caller has opened. Close leaves db open. What the driver can do besides
// package driver's functions find.
//
// With [SQLite] it keeps one connection of db until it is closed; so db must allow one more than its other users need. It
// makes the tables whose names begin with holdfast_ where there are none, sets the database to journal_mode=WAL, and makes
// a folder beside its file.
//
// With [MySQL] and [Postgres] it keeps a connection for requests and one for renewals, and has more while there is much to do:
// see [Options]; one more for each of some locks that it waits for, and one while it sweeps. Of a db that is bounded by
// SetMaxOpenConns it takes no more than half of the connections, rounded up. In the mode [Session] it is a connection for each claim. The
// tables are those that [Migrate] made; it is an error when there are none.
func New(ctx context.Context, db *sql.DB, dialect *Dialect, opts *Options) (driver.Driver, error) {
	if opts == nil {
		opts = &Options{}
	}
	return newDriver(ctx, db, dialect, *opts)
}

func newDriver(ctx context.Context, db *sql.DB, dialect *Dialect, opts Options) (driver.Driver, error) {
	keep, mode := cmp.Or(max(opts.Keep, 0), defaultKeep), cmp.Or(opts.Mode, Claims)
	switch {
	case mode != Claims && mode != Session:
		return nil, fmt.Errorf("there is no mode %q; use %q or %q", mode, Claims, Session)
	case opts.Pooler != "" && opts.Pooler != PoolsSessions && opts.Pooler != PoolsTransactions:
		return nil, fmt.Errorf("there is no pooler %q; use %q or %q, or leave it out", opts.Pooler, PoolsSessions, PoolsTransactions)
	case opts.Layout != "" && opts.Layout != RawLayout:
		return nil, fmt.Errorf("there is no layout %q; use %q, or leave it out", opts.Layout, RawLayout)
	case opts.Layout != "" && mode != Session:
		return nil, fmt.Errorf("the layout %q is for locks of sessions; use the mode %q, too", opts.Layout, Session)
	case opts.Connections < 0 || opts.Waits < 0:
		return nil, fmt.Errorf("a client cannot have %d connections, and %d to wait on; use 1 or more, or 0 for what is usual",
			opts.Connections, opts.Waits)
	case opts.Connections+opts.Waits > 0 && (mode == Session || dialect.server == nil):
		return nil, errors.New("the number of connections can be chosen for MySQL and PostgreSQL alone, and not in session mode," +
			" where each claim has its own; leave it out")
	case mode == Claims && dialect.server != nil:
		s := claims.Settings{Keep: keep, Pooler: claims.Pooler(opts.Pooler), Connections: opts.Connections, Waits: opts.Waits}
		return newClaims(ctx, db, dialect, s)
	case mode == Claims:
		return newFile(ctx, db, dialect, keep)
	case dialect.sessions == nil:
		return nil, fmt.Errorf("%w: SQLite has no locks of sessions; leave out the mode", errors.ErrUnsupported)
	case opts.Pooler == PoolsTransactions:
		return nil, sessions.ErrPooled
	}
	if opts.Layout == RawLayout {
		return sessions.New(ctx, db, dialect.sessions.Raw(), keep)
	}
	return sessions.New(ctx, db, dialect.sessions, keep)
}

// newClaims makes a driver on a server.
func newClaims(ctx context.Context, db *sql.DB, dialect *Dialect, s claims.Settings) (driver.Driver, error) {
	d, err := claims.New(ctx, db, dialect.server, s)
	if err != nil {
		return nil, err
	}
	d.AlsoReap(claims.Others{Kind: "row of a transaction", First: firstRow, Step: reapStep})
	return d, nil
}

// newFile makes a driver on an SQLite database.
func newFile(ctx context.Context, db *sql.DB, dialect *Dialect, keep time.Duration) (*Driver, error) {
	m, err := thisMachine()
	if err != nil {
		return nil, fmt.Errorf("tell this boot of the machine, and its time, from others: %w; mount /proc", err)
	}
	d := &Driver{dialect: dialect, machine: m, keep: keep}
	if d.session, err = newSession(ctx, db, dialect); err != nil {
		return nil, dialect.refuse(err)
	}
	if err := d.prepare(ctx); err != nil {
		return nil, errors.Join(dialect.refuse(err), d.Close())
	}
	return d, nil
}

func (d *Driver) prepare(ctx context.Context) (err error) {
	if d.place, err = d.dialect.prepare(ctx, d.session); err != nil {
		return err
	}
	if d.session.machine, err = openTurn(d.place); err != nil {
		return err
	}
	if err := d.setUp(ctx); err != nil {
		return err
	}
	d.place.keepBesides()
	if d.client, err = join(d.place, d.posts.ring); err != nil {
		return err
	}
	d.writes = sweepEvery
	return d.write(ctx, func(*tx) error { return nil })
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits { return d.dialect.traits }

// Inherit implements [driver.Inheriter].
func (d *Driver) Inherit() []*os.File { return d.client.files() }

// closeLimit bounds how long Close asks whether its client can be forgotten. If it was not told, a sweep does that.
const closeLimit = time.Second

// Close implements [driver.Driver]. With it the client is gone, and so are the claims that are not detached, unless a
// child keeps the files open.
func (d *Driver) Close() error {
	d.closing.Do(func() { d.closed = d.close() })
	return d.closed
}

func (d *Driver) close() error {
	forget := d.client != nil && !d.hasClaims()
	err := d.session.close()
	if d.client != nil {
		d.client.leave(forget)
	}
	if d.place != nil {
		err = errors.Join(err, d.place.folder.close())
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	return err
}

// hasClaims reports whether something in the database refers to this client.
func (d *Driver) hasClaims() bool {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var found *row
	err := d.read(ctx, func(t *tx) (err error) {
		found, err = t.first(claimsOf, d.client.id)
		return err
	})
	return err != nil || found != nil
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
	driver.Reaper
	driver.Inheriter
} = (*Driver)(nil)
