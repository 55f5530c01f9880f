package sqllock

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/shedlock"
	"github.com/holdfast-go/holdfast/sqllock/internal/sqlite"
)

func init() {
	driver.Register("file", open)
	driver.Register("mysql", open)
	driver.Register("postgres", open)
}

// An owner is a driver that closes its database with it.
type owner struct {
	driver.Driver
	db *sql.DB
}

func (o owner) Unwrap() driver.Driver { return o.Driver }

func (o owner) Close() error { return errors.Join(o.Driver.Close(), o.db.Close()) }

// own is [New] for a database that nobody else uses.
func own(ctx context.Context, db *sql.DB, dialect *Dialect, opts *Options) (driver.Driver, error) {
	d, err := New(ctx, db, dialect, opts)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.SetMaxIdleConns(0) // in most modes no connection that was used comes back
	if d, ok := d.(*shedlock.Driver); ok {
		d.Own()
	}
	return owner{d, db}, nil
}

// Bounds of opening. An SQL driver may bound only the dialing, and wait for ever for the greeting of something that
// is not a database server.
const (
	connectTime = 5 * time.Second // for each host, unless the URL says otherwise
	openMore    = time.Second
)

// open opens file:PATH, mysql://user:password@host/database or postgres://user:password@host/database.
func open(ctx context.Context, u *url.URL) (driver.Driver, error) {
	db, at, err := connect(u)
	if err != nil {
		return nil, err
	}
	if at.connect > 0 {
		patience := time.Duration(1+strings.Count(u.Host, ","))*at.connect + openMore
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	return own(ctx, db, schemes[u.Scheme].dialect, &at.opts)
}

// MigrateURL is [Migrate] for the database that a URL names.
func MigrateURL(ctx context.Context, rawURL string) error {
	u, err := driver.ParseURL(rawURL)
	if err != nil {
		return err
	}
	db, _, err := connect(u)
	if err == nil {
		err = errors.Join(Migrate(ctx, db, schemes[u.Scheme].dialect), db.Close())
	}
	if err != nil {
		return fmt.Errorf("migrate %s: %w", driver.Redact(u), err)
	}
	return nil
}

// A scheme is a kind of database that URLs name and, for a server, how a database/sql driver is told where it is.
type scheme struct {
	dialect *Dialect
	driver  string // its name in database/sql
	module  string // what to import so that it is there
	port    string
	source  func(address, *driver.Params) (string, error) // reads the parameters for the SQL driver
}

// An address is what a URL says.
type address struct {
	url     *url.URL
	hosts   string
	connect time.Duration // for each host; 0 for a file
	opts    Options
	source  string // for the SQL driver
}

var schemes = map[string]scheme{
	"file": {dialect: SQLite},
	"mysql": {
		dialect: MySQL, driver: "mysql", module: "github.com/go-sql-driver/mysql", port: "3306", source: mysqlSource,
	},
	"postgres": {
		dialect: Postgres, driver: "pgx", module: "github.com/jackc/pgx/v5/stdlib",
		port: "5432", source: postgresSource,
	},
}

// connect returns the database that a URL names. Nothing is connected yet.
func connect(u *url.URL) (*sql.DB, address, error) {
	s, ok := schemes[u.Scheme]
	switch {
	case !ok:
		return nil, address{}, fmt.Errorf(
			"%s: is not a database server; use a URL like mysql://… or postgres://… instead", u.Scheme)
	case s.dialect == SQLite:
		db, err := sqlite.Open(u)
		return db, address{}, err
	}
	at, err := s.read(u)
	switch {
	case err != nil:
		return nil, at, err
	case !slices.Contains(sql.Drivers(), s.driver):
		return nil, at, fmt.Errorf("no database/sql driver is named %q; import one, as in: import _ %q",
			s.driver, s.module)
	}
	db, err := sql.Open(s.driver, at.source)
	if err != nil { // which may show the password
		return nil, at, errors.New("the SQL driver does not take the URL's address or parameters")
	}
	return db, at, nil
}

// read reads a URL.
func (s scheme) read(u *url.URL) (at address, err error) {
	p := driver.NewParams(u)
	at = address{
		url: u, hosts: cmp.Or(strings.Join(driver.Hosts(u, s.port), ","), "localhost:"+s.port),
		connect: p.Duration("connecttimeout", connectTime),
		opts: Options{
			Mode: Mode(p.String("mode", "")), Layout: Layout(p.String("layout", "")), Table: p.String("table", ""),
			Pooler: Pooler(p.String("pooler", "")), Connections: p.Int("connections", 0), Waits: p.Int("waits", 0),
		},
	}
	at.source, err = s.source(at, p)
	switch database := databaseOf(u); {
	case p.Err() != nil:
		return at, p.Err()
	case err != nil:
		return at, err
	case at.connect <= 0:
		return at, errors.New("parameter connecttimeout: it should be 1ms or more")
	case strings.Contains(database, "/"):
		err = errors.New("after the hosts, the URL should have the name of one database")
	case database == "":
		err = errors.New("name the database that has the tables")
	}
	if err != nil {
		return at, fmt.Errorf("%w, as in %s://user@host/app", err, u.Scheme)
	}
	return at, nil
}

// databaseOf is the name of the database that a URL names.
func databaseOf(u *url.URL) string { return strings.Trim(u.Path, "/") }

// passOn reads those of the named parameters that are there.
func passOn(p *driver.Params, names []string) url.Values {
	q := make(url.Values)
	for _, name := range names {
		if value := p.String(name, ""); value != "" {
			q.Set(name, value)
		}
	}
	return q
}
