package servertables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// format is the number of the format of the tables, and revision that of the routines. A program works only with those
// that it has itself. Routines have the format in their names, so that a program calls only those that it knows.
const (
	format   = health.Format
	revision = 1
	prefix   = "holdfast1_"
)

// Migrate makes the tables where they are missing, and makes all routines anew.
func Migrate(ctx context.Context, db *sql.DB, d *Dialect) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return d.explain(err)
	}
	defer dbms.Discard(conn)
	kind, err := d.recognise(ctx, conn)
	if err == nil && kind == dbms.MariaDB {
		err = refuseOldMariaDB(ctx, conn)
	}
	if err != nil {
		return err
	}
	err = d.migrate(ctx, conn, d)
	switch dbms.Code(err) {
	case noSchema:
		return replies.Refuse(err, "create the schema first, and let this user use it")
	case "42501", "1044", "1142", "1227", "1370":
		return replies.Refuse(err, "migrate as a user that may create tables and routines here")
	}
	return d.explain(err)
}

// refuseOldMariaDB is about versions without JSON_TABLE, which came with 10.6: they would say that the syntax of a
// routine is wrong.
func refuseOldMariaDB(ctx context.Context, q dbms.Querier) error {
	var version string
	err := q.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	if err != nil || !isOldMariaDB(version) {
		return err
	}
	return fmt.Errorf("%w: the server is %s; upgrade to MariaDB 10.6 or newer: locks in tables do not work on older "+
		"versions", driver.ErrRefused, version)
}

// isOldMariaDB reports whether a version of MariaDB comes before 10.6; one that cannot be read is not known to.
func isOldMariaDB(version string) bool {
	number := strings.TrimPrefix(version, "5.5.5-") // some proxies put that before it
	var major, minor int
	_, err := fmt.Sscanf(number, "%d.%d", &major, &minor)
	return err == nil && (major < 10 || major == 10 && minor < 6)
}

// noSchema is what PostgreSQL says where no schema of the search path is there.
const noSchema = "3F000"

// refuseOthers refuses what a program with another format or revision has made. It returns the format of the tables, or
// 0. Where there is no routine that tells the revision, missing says why.
func (d *Dialect) refuseOthers(ctx context.Context, on execer) (found int, missing, err error) {
	made := revision
	err = on.QueryRowContext(ctx, d.call(prefix+"version", 0)).Scan(&found, &made)
	if errors.Is(err, sql.ErrNoRows) || err != nil && d.isMissing(err) {
		missing = err
		found, err = d.formatOf(ctx, on)
	}
	switch {
	case err != nil:
	case found != 0 && found != format:
		err = health.CheckFormat(found)
	case made != revision:
		err = health.OtherRevision(made, revision)
	}
	return found, missing, err
}

// An execer is a connection or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// make makes everything.
func (d *Dialect) make(ctx context.Context, on execer, statements []string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", title(statement), err)
		}
	}
	return nil
}

// Statements are what Migrate does, in order. They can be run at any time, also on what is there.
// The routine that tells the version comes last, because it says that all others are there.
func (d *Dialect) Statements() []string {
	all := slices.Concat(d.refuse(d), server.Split(d.text("tables")))
	for _, name := range slices.Concat(d.helpers, callable, []routine{"version"}) {
		all = append(all, d.anew(name, d.text(string(name)))...)
	}
	return all
}

// title is the first line of a statement that is not a comment, for messages.
func title(statement string) string {
	for line := range strings.Lines(statement) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return line
		}
	}
	return statement
}

// formatOf reads the format, which is 0 where there are no tables, or where making them was not finished.
func (d *Dialect) formatOf(ctx context.Context, on execer) (found int, err error) {
	err = on.QueryRowContext(ctx, "SELECT format FROM holdfast_store").Scan(&found)
	if errors.Is(err, sql.ErrNoRows) || err != nil && d.isMissing(err) {
		return 0, nil
	}
	return found, err
}

// checkVersion refuses a database that Migrate was not run on, whose routines were lost, or that a program with another
// format or revision has made.
func (d *Dialect) checkVersion(ctx context.Context, on execer) error {
	found, missing, err := d.refuseOthers(ctx, on)
	switch {
	case err != nil:
		return err
	case missing == nil:
		return health.CheckFormat(found)
	case found != 0:
		return health.NotMigrated(fmt.Errorf("it has the tables, but not the routines, "+
			"which a dump may have left out: %w", missing))
	}
	return health.NotMigrated(missing)
}

// text is a script of this dialect.
func (d *Dialect) text(name string) string {
	return strings.ReplaceAll(d.Text(scripts, name), "{revision}", strconv.Itoa(revision))
}
