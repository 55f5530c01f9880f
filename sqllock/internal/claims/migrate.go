package claims

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// format is the version of the tables and routines. Routines have it in their names, so that a program calls only those
// that it knows.
const (
	format = 1
	prefix = "holdfast1_"
)

// Migrate makes the tables and routines where they are missing. It does nothing where they are as they should be.
func Migrate(ctx context.Context, db *sql.DB, d *Dialect) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return d.explain(err)
	}
	defer discard(conn)
	if err := d.makeReady(ctx, conn); err != nil {
		return d.explain(err)
	}
	return d.explain(d.migrate(ctx, conn, d))
}

// An execer is a connection or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// make makes everything.
func (d *Dialect) make(ctx context.Context, on execer) error {
	for _, statement := range d.statements() {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", title(statement), err)
		}
	}
	return nil
}

// statements are those of the scripts, in order.
func (d *Dialect) statements() []string {
	all := split(d.text("format1"))
	for _, name := range append(d.helpers, callable...) {
		all = append(all, d.drop+prefix+string(name), d.text(string(name)))
	}
	return append(all, split(d.text("store"))...)
}

// split cuts a script at the semicolons that end its lines.
func split(script string) []string {
	return strings.Split(strings.TrimSuffix(script, ";"), ";\n")
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

// checkFormat refuses a database that Migrate was not run on, or that a newer program has changed.
func (d *Dialect) checkFormat(ctx context.Context, on execer) error {
	found, err := d.formatOf(ctx, on)
	switch {
	case err != nil:
		return err
	case found == 0:
		return d.missingTables(errors.New("there is no table holdfast_store"))
	}
	return refuseOther(found)
}

// refuseOther refuses formats that this program does not know.
func refuseOther(found int) error {
	if found == format {
		return nil
	}
	return fmt.Errorf("%w: the tables are in format %d, and this program knows format %d; upgrade this program", driver.ErrRefused, found, format)
}
