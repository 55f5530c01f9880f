package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/sqlite"
)

func init() {
	driver.Register("file", openFile)
	driver.Register("mysql", openServer)
	driver.Register("postgres", openServer)
}

// Bounds of opening. An SQL driver may bound only the dialing, and wait for ever for the greeting of something that
// is not a database server.
const (
	connectTime = 5 * time.Second // for each host, unless the URL says otherwise
	openMore    = time.Second
)

// openFile opens file:PATH.
func openFile(ctx context.Context, u *url.URL) (driver.Driver, error) {
	return orNil(sqlite.Open(ctx, u, defaultKeep))
}

// openServer opens mysql://user:password@host/database or postgres://user:password@host/database.
func openServer(ctx context.Context, u *url.URL) (driver.Driver, error) {
	t, err := connect(u)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	d, err := newDriver(ctx, t.db, t.dialect, t.opts)
	if err != nil {
		return nil, errors.Join(err, t.db.Close())
	}
	t.db.SetMaxIdleConns(0) // in most modes no connection that was used comes back
	d.(interface{ Own(*sql.DB) }).Own(t.db)
	return d, nil
}

// The parameters of a URL that are ours, and not those of the SQL driver.
const (
	modeParameter        = "mode"
	layoutParameter      = "layout"
	tableParameter       = "table"
	poolerParameter      = "pooler"
	connectionsParameter = "connections"
	waitsParameter       = "waits"
	connectParameter     = "connecttimeout"
)

// MigrateURL is [Migrate] for the database that a URL names.
func MigrateURL(ctx context.Context, rawURL string) error {
	u, err := driver.ParseURL(rawURL)
	if err != nil {
		return err
	}
	if err := migrateURL(ctx, u); err != nil {
		return fmt.Errorf("migrate %s: %w", driver.Redact(u), err)
	}
	return nil
}

func migrateURL(ctx context.Context, u *url.URL) error {
	if u.Scheme == "file" {
		d, err := sqlite.Open(ctx, u, defaultKeep)
		if err != nil {
			return err
		}
		return d.Close()
	}
	t, err := connect(u)
	if err != nil {
		return err
	}
	return errors.Join(Migrate(ctx, t.db, t.dialect), t.db.Close())
}

// A scheme is a kind of server that URLs name, and how a database/sql driver is told where it is.
type scheme struct {
	dialect *Dialect
	driver  string // its name in database/sql
	module  string // what to import so that it is there
	port    string
	source  func(address, *driver.Params) (string, error) // reads the parameters for the SQL driver
}

// An address is where the servers are.
type address struct {
	url     *url.URL
	hosts   string
	connect time.Duration // for each host
}

var schemes = map[string]scheme{
	"mysql": {
		dialect: MySQL, driver: "mysql", module: "github.com/go-sql-driver/mysql", port: "3306", source: mysqlSource,
	},
	"postgres": {
		dialect: Postgres, driver: "pgx", module: "github.com/jackc/pgx/v5/stdlib",
		port: "5432", source: postgresSource,
	},
}

// A target is a database that a URL names, and how to use it. Nothing is connected yet.
type target struct {
	db       *sql.DB
	dialect  *Dialect
	opts     Options
	patience time.Duration // of opening
}

func connect(u *url.URL) (t target, err error) {
	s, ok := schemes[u.Scheme]
	if !ok {
		return t, fmt.Errorf("%s: is not a database server; use a URL like mysql://… or postgres://… instead", u.Scheme)
	}
	source, at, opts, err := s.read(u)
	switch {
	case err != nil:
		return t, err
	case !slices.Contains(sql.Drivers(), s.driver):
		return t, fmt.Errorf("no database/sql driver is named %q; import one, as in: import _ %q", s.driver, s.module)
	}
	t.dialect, t.opts = s.dialect, opts
	t.patience = time.Duration(1+strings.Count(u.Host, ","))*at.connect + openMore
	if t.db, err = sql.Open(s.driver, source); err != nil {
		// Its own error may show the password.
		return t, errors.New("the SQL driver does not take the URL's address or parameters")
	}
	return t, nil
}

// read reads a URL: what the SQL driver is told, and what it is not.
func (s scheme) read(u *url.URL) (source string, at address, opts Options, err error) {
	params := driver.NewParams(u)
	opts = Options{
		Mode:        Mode(params.String(modeParameter, "")),
		Layout:      Layout(params.String(layoutParameter, "")),
		Table:       params.String(tableParameter, ""),
		Pooler:      Pooler(params.String(poolerParameter, "")),
		Connections: params.Int(connectionsParameter, 0),
		Waits:       params.Int(waitsParameter, 0),
	}
	at = address{u, strings.Join(hostsOf(u, s.port), ","), params.Duration(connectParameter, connectTime)}
	source, misuse := s.source(at, params)
	switch {
	case params.Err() != nil:
		err = params.Err()
	case misuse != nil:
		err = misuse
	case at.connect <= 0:
		err = fmt.Errorf("parameter %s: it should be 1ms or more", connectParameter)
	case strings.Contains(databaseOf(u), "/"):
		err = fmt.Errorf("after the hosts, the URL should have the name of one database, as in %s://user@host/app",
			u.Scheme)
	case databaseOf(u) == "":
		err = fmt.Errorf("name the database that has the tables, as in %s://user@host/app", u.Scheme)
	}
	return source, at, opts, err
}

// databaseOf is the name of the database that a URL names.
func databaseOf(u *url.URL) string { return strings.Trim(u.Path, "/") }

func hostsOf(u *url.URL, port string) []string {
	if hosts := driver.Hosts(u, port); len(hosts) > 0 {
		return hosts
	}
	return []string{"localhost:" + port}
}

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
