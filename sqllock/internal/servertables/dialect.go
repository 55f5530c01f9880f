package servertables

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A Dialect is how to talk to one kind of server.
type Dialect struct {
	server.Kind

	// call is the statement that calls a routine with so many arguments.
	call func(routine string, args int) string

	// taken returns the token that the statement to take a lock has granted a claim, or 0.
	taken func(ctx context.Context, stmt *sql.Stmt, c driver.Claim, before string) (int64, error)

	// isPostgres is false for MySQL and MariaDB. On PostgreSQL a statement that was prepared belongs to a session, and
	// is unknown in others. Proxies that share sessions of MySQL prepare it where it is needed.
	isPostgres bool

	// migrate makes what is missing, while nobody else does.
	migrate func(ctx context.Context, conn *sql.Conn, d *Dialect) error
	refuse  func(d *Dialect) []string                     // refuses tables of another format
	anew    func(name routine, statement string) []string // makes a routine, whether or not there is one
	helpers []routine                                     // that only others call, each after those that it calls

	preface string // begins a script of statements

	wakeLocks int                    // how many wake locks a connection has at most
	limit     string                 // a query for what else limits that; older servers may not know it
	within    func(limit string) int // how many there may be then

	facts []health.Fact // what Check looks at
}

//go:embed mysql/*.sql postgres/*.sql
var scripts embed.FS

// A routine is the name of one that programs call, and of the .sql file that makes it.
type routine string

// callable are the routines that programs call. None but ring is called by another.
var callable = []routine{
	"ring", "together", "request", "release", "renew", "wait", "break", "revoke", "part", "page", "digest",
	"news", "turn", "mark", "survey", "tidy", "forget", "retire", "value", "set",
}

// recognise refuses a database of another kind, and one that passes for this kind.
func (d *Dialect) recognise(ctx context.Context, q dbms.Querier) (dbms.Kind, error) {
	kind, err := dbms.Genuine(ctx, q)
	if err == nil && (kind == dbms.Postgres) != d.isPostgres {
		err = fmt.Errorf("the database is %v; use the dialect and the URL scheme for it", kind)
	}
	return kind, d.explain(err)
}

// isBusy reports whether nothing was done because others were in the way.
func (d *Dialect) isBusy(err error) bool {
	return server.InTheWay(err) || dbms.Code(err) == "57014" // query_canceled
}

// isLost reports whether nothing was done, and another connection may do better, as after a failover.
func (d *Dialect) isLost(err error) bool { return slices.Contains(lost, dbms.Code(err)) }

// isMissing reports whether tables or routines are not there.
func (d *Dialect) isMissing(err error) bool { return slices.Contains(missing, dbms.Code(err)) }

// Codes of errors of all servers: see [dbms.Code].
var (
	lost    = []string{"1047", "1290", "1792", "1836", "3100", "3796", "3797", "25006", "25P04"}
	missing = []string{"1146", "1305", "1318", "42P01", "42883", noSchema}
)

// explain says what an error of the server means.
func (d *Dialect) explain(err error) error {
	switch {
	case err == nil || errors.Is(err, driver.ErrRefused):
		return err
	case d.isMissing(err):
		return health.NotMigrated(err)
	case health.Stray(err):
		return replies.Refuse(err, prepareNothing)
	}
	return replies.Explain(err)
}

// prepareNothing is what to do where the SQL driver prepares statements, and a proxy gives the next
// one to another session.
const prepareNothing = "the SQL driver prepares statements, and a proxy between it and the server gives " +
	"each transaction another session: open the database with default_query_exec_mode=exec (pgx) or " +
	"binary_parameters=yes (lib/pq), or let the proxy keep them (max_prepared_statements of PgBouncer 1.21 or newer)"

// Script writes statements down for people and for the tools that they migrate databases with.
func (d *Dialect) Script(statements []string) string {
	script := d.preface
	for _, statement := range statements {
		script += ended(statement) + "\n\n"
	}
	return strings.TrimSuffix(script, "\n")
}

// ended lets a statement end. The mysql client is to tell the semicolons of a routine from the one after it.
func ended(statement string) string {
	if strings.HasSuffix(statement, "\nEND") {
		return "DELIMITER ;;\n" + statement + ";;\nDELIMITER ;"
	}
	return strings.TrimSuffix(statement, ";") + ";"
}
