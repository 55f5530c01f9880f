package sqllock

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/claims"
	"github.com/holdfast-go/holdfast/sqllock/internal/sessions"
)

// A Dialect is how to talk to one kind of database: [SQLite], [MySQL] or [Postgres].
type Dialect struct {
	server   *claims.Dialect   // nil for SQLite, which alone has what follows
	sessions *sessions.Dialect // likewise

	traits     driver.Traits
	statements string // the folder of its .sql files
	begin      string // a transaction that will write
	look       string // a transaction that will not

	// prepare makes a connection ready, and says where the clients of the database find each other.
	prepare func(context.Context, *session) (*place, error)

	// isBusy reports whether an error means that nothing was done since others were in the way, so that it can be
	// repeated; isRefusal whether repeating is of no use.
	isBusy, isRefusal func(error) bool
}

// MySQL is the dialect of MySQL 8.0 and MariaDB 10.6, or newer.
var MySQL = &Dialect{server: claims.MySQL, sessions: sessions.MySQL}

// Postgres is the dialect of PostgreSQL 12 or newer.
var Postgres = &Dialect{server: claims.Postgres, sessions: sessions.Postgres}

//go:embed sqlite/*.sql
var scripts embed.FS

// A statement is the name of a .sql file.
type statement string

const (
	hasStore     statement = "has_store"
	readStore    statement = "store"
	forgetAll    statement = "forget"
	setBoot      statement = "set_boot"
	makeBoots    statement = "boots"
	forgetBoots  statement = "forget_boots"
	beganAt      statement = "began"
	setBegan     statement = "set_began"
	carryClaims  statement = "carry"
	queueOf      statement = "queue"
	findClaim    statement = "find"
	claimAhead   statement = "ahead"
	claimBehind  statement = "behind"
	nextToken    statement = "fence"
	insertClaim  statement = "insert"
	renewClaim   statement = "renew"
	grantClaim   statement = "grant"
	revokeClaim  statement = "revoke"
	deleteClaim  statement = "delete"
	rememberEnd  statement = "remember"
	recallEnd    statement = "recall"
	namesOf      statement = "names"
	digestOf     statement = "digest"
	expired      statement = "expired"
	claimsOf     statement = "of_client"
	sweepEnds    statement = "sweep_ends"
	sweepFences  statement = "sweep_fences"
	forgetFence  statement = "forget_fence"
	formatScript statement = "format" // and a number
)

// text is the SQL of a statement.
func (d *Dialect) text(s statement) string {
	text, err := scripts.ReadFile(d.statements + "/" + string(s) + ".sql")
	if err != nil {
		panic(err) // the file is a part of this package
	}
	return strings.TrimSpace(string(text))
}

// refuse marks an error after which asking again will not help.
func (d *Dialect) refuse(err error) error {
	if err == nil || errors.Is(err, driver.ErrRefused) || !d.isRefusal(err) {
		return err
	}
	return fmt.Errorf("%w: %w; check the file, its folder and their permissions", driver.ErrRefused, err)
}
