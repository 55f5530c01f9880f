package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func init() {
	driver.Register("mysql", openServer)
	driver.Register("postgres", openServer)
}

// Bounds of opening. A SQL driver may bound no more than the dialing, and wait for ever for the greeting of what is no
// database server.
const (
	connectSeconds = 5 // for each host
	openMore       = time.Second
)

// openServer opens mysql://user:password@host/database or postgres://user:password@host/database.
func openServer(ctx context.Context, u *url.URL) (driver.Driver, error) {
	db, dialect, opts, err := connect(u)
	if err != nil {
		return nil, err
	}
	hosts := 1 + strings.Count(u.Host, ",")
	ctx, cancel := context.WithTimeout(ctx, time.Duration(hosts)*connectSeconds*time.Second+openMore)
	defer cancel()
	d, err := newDriver(ctx, db, dialect, opts)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d.(interface{ Own(*sql.DB) }).Own(db)
	db.SetMaxIdleConns(0) // a connection that was used comes never back
	return d, nil
}

// The parameters of a URL that are ours, and not the SQL driver's.
const (
	modeParameter        = "mode"
	poolerParameter      = "pooler"
	connectionsParameter = "connections"
)

var ours = []string{modeParameter, poolerParameter, connectionsParameter}

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
		d, err := openFile(ctx, u)
		if err != nil {
			return err
		}
		return d.Close()
	}
	db, dialect, _, err := connect(u)
	if err != nil {
		return err
	}
	return errors.Join(Migrate(ctx, db, dialect), db.Close())
}

// A server says how a database/sql driver is told where a server is.
type server struct {
	dialect    *Dialect
	driver     string // its name in database/sql
	module     string // what to import so that it is there
	port       string
	parameters []string // of the URL, which are the SQL driver's
	source     func(u *url.URL, host string) string
}

var kinds = map[string]server{
	"mysql": {
		dialect: MySQL, driver: "mysql", module: "github.com/go-sql-driver/mysql", port: "3306",
		parameters: []string{"tls", "socket"}, source: mysqlSource,
	},
	"postgres": {
		dialect: Postgres, driver: "pgx", module: "github.com/jackc/pgx/v5/stdlib", port: "5432",
		parameters: []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "search_path", "target_session_attrs", "host"},
		source:     postgresSource,
	},
}

// connect opens the database that a URL names, without connecting yet.
func connect(u *url.URL) (*sql.DB, *Dialect, Options, error) {
	kind, ok := kinds[u.Scheme]
	if !ok {
		return nil, nil, Options{}, fmt.Errorf("%s: is not a database server; use a URL like mysql://… or postgres://… instead", u.Scheme)
	}
	params := driver.NewParams(u)
	opts := Options{
		Mode:        Mode(params.String(modeParameter, "")),
		Pooler:      Pooler(params.String(poolerParameter, "")),
		Connections: params.Int(connectionsParameter, 0),
	}
	for _, p := range kind.parameters {
		params.String(p, "")
	}
	if err := params.Err(); err != nil {
		return nil, nil, Options{}, err
	}
	if strings.Trim(u.Path, "/") == "" {
		return nil, nil, Options{}, fmt.Errorf("name the database in which the tables are, as in %s://user@host/app", u.Scheme)
	}
	if !slices.Contains(sql.Drivers(), kind.driver) {
		return nil, nil, Options{}, fmt.Errorf("no database/sql driver is named %q; import one, as in: import _ %q", kind.driver, kind.module)
	}
	hosts := driver.Hosts(u, kind.port)
	if len(hosts) == 0 {
		hosts = []string{"localhost:" + kind.port}
	}
	db, err := sql.Open(kind.driver, kind.source(u, strings.Join(hosts, ",")))
	if err != nil {
		return nil, nil, Options{}, errors.New("the SQL driver does not take the URL's address or parameters") // its error may show the password
	}
	return db, kind.dialect, opts, nil
}

// mysqlSource is user:password@protocol(address)/database?parameters.
func mysqlSource(u *url.URL, host string) string {
	address := "tcp(" + host + ")"
	if socket := u.Query().Get("socket"); socket != "" {
		address = "unix(" + socket + ")"
	}
	password, _ := u.User.Password()
	source := u.User.Username() + ":" + password + "@" + address + "/" + url.PathEscape(strings.Trim(u.Path, "/")) + "?timeout=" + strconv.Itoa(connectSeconds) + "s"
	if tls := u.Query().Get("tls"); tls != "" {
		source += "&tls=" + url.QueryEscape(tls)
	}
	return source
}

// postgresSource is the URL itself, with a bound for connecting. Statements that we do not prepare are sent as they are: a proxy
// may give the next one to another session.
func postgresSource(u *url.URL, host string) string {
	source := *u
	q := u.Query()
	q.Set("connect_timeout", strconv.Itoa(connectSeconds))
	q.Set("default_query_exec_mode", "exec")
	for _, p := range ours {
		q.Del(p)
	}
	source.Host, source.RawQuery = host, q.Encode()
	return source.String()
}
