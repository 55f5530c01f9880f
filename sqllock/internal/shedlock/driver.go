package shedlock

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// A Driver is a client of the locks in a table of ShedLock.
type Driver struct {
	db      *sql.DB
	owned   bool // nobody else uses the database
	dialect *Dialect
	table   string

	patient chan struct{} // holds as many as have a connection and are no holders

	followers driver.Followers

	life context.Context
	end  context.CancelFunc // of life
}

// Table is what ShedLock calls its table, unless it is told otherwise.
const Table = "shedlock"

// New makes a driver on a database in which the table is that ShedLock uses, and in which [Migrate] has made ours.
func New(ctx context.Context, db *sql.DB, dialect *Dialect, table string) (driver.Driver, error) {
	if err := checkTable(table); err != nil {
		return nil, err
	}
	d := unchecked(db, dialect, table)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, d.explain(err)
	}
	defer conn.Close()
	if err := d.check(ctx, conn); err != nil {
		return nil, err
	}
	if err := d.checkColumns(ctx, conn); err != nil {
		return nil, err
	}
	return d, nil
}

// unchecked makes a driver that has not looked at the tables.
func unchecked(db *sql.DB, dialect *Dialect, table string) *Driver {
	d := &Driver{db: db, dialect: dialect, table: table, patient: make(chan struct{}, mostPatient(db))}
	d.life, d.end = context.WithCancel(context.Background())
	d.followers.Wait = d.wait
	return d
}

// Own says that nobody else uses the database. A statement takes a moment, so some connections are enough.
func (d *Driver) Own() {
	d.owned = true
	d.db.SetMaxOpenConns(mostConns)
	d.db.SetMaxIdleConns(mostConns)
	d.db.SetConnMaxIdleTime(time.Minute)
	d.patient = make(chan struct{}, mostPatient(d.db))
}

// mostConns is how many connections a client opens.
const mostConns = 8

// mostPatient is how many connections those have at most who wait for a lock, or only look: half of all. What holders
// do, renewals and releases, goes through any, so that they never wait behind a crowd.
func mostPatient(db *sql.DB) int {
	most := db.Stats().MaxOpenConnections
	if most == 0 || most > mostConns {
		most = mostConns
	}
	return max(most/2, 1)
}

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend: d.dialect.Name + ", shedlock",
		MinTTL:  100 * time.Millisecond, MaxTTL: 365 * 24 * time.Hour, MaxName: mostName,
		Fenced: true, ServerClock: true, Listed: true, Detach: true,
		Ops: kinds,
	}
}

// Close implements [driver.Driver].
func (d *Driver) Close() error {
	d.end()
	d.followers.Close()
	return nil
}

// check refuses tables that this program does not know, and sessions that leave the end of a transaction to their
// client: others would wait for a grant that they do not see, and it would be gone with its connection.
func (d *Driver) check(ctx context.Context, conn *sql.Conn) error {
	var format int
	var any, commits bool
	err := conn.QueryRowContext(ctx, d.dialect.Statement(scripts, "format")).Scan(&format, &any, &commits)
	switch {
	case dbms.NoTable(err):
		return health.NotMigrated(err)
	case err != nil:
		return d.explain(err)
	case !commits:
		return fmt.Errorf("%w: autocommit is off, so nobody else would see who has a lock; set it to 1 in the server's"+
			" configuration, or in the data source name of a pool of yours", driver.ErrRefused)
	}
	return health.CheckFormat(format)
}
