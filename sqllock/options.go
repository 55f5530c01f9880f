package sqllock

import (
	"errors"
	"fmt"
	"time"
)

// Options adjust a driver. The zero value, or nil, is right for most.
type Options struct {
	// Keep is how long the last token of a lock is remembered after its last use: 30 days when zero. Because new tokens
	// follow the clock, it matters only if that is set back by more than this.
	Keep time.Duration

	// Mode is how locks are kept: as [Claims] when empty.
	Mode Mode

	// Layout is which locks the names stand for: those of Holdfast when empty. [RawLayout] is for the mode [Session],
	// [ShedLock] for none.
	Layout Layout

	// Table is the name of ShedLock's table in the layout [ShedLock]: shedlock when empty.
	Table string

	// Pooler is what a proxy between the program and the server pools. When it is empty, New finds out, for which it
	// needs two connections of db at once.
	Pooler Pooler

	// Connections is the greatest number of connections that a client uses for its requests: 4 when zero. It opens
	// another one only when a request would have to wait, and closes it after some idle time. It is for [MySQL] and
	// [Postgres], in the mode [Claims].
	Connections int

	// Waits is the greatest number of connections on which a client waits: 8 when zero. Each is for one lock, whose
	// waiters are woken at once. If a client waits for more locks, it asks for news of all the others together, some
	// fifty times a second. It is for the same databases and mode as Connections.
	Waits int
}

// A Pooler is what a proxy pools, such as PgBouncer.
type Pooler string

const (
	// PoolsSessions means that a connection has a session of the server for itself. It is also right without a proxy.
	PoolsSessions Pooler = "session"

	// PoolsTransactions means that each transaction may get another session of the server, which other programs use as
	// well. Holdfast changes nothing in these sessions. Waiting is less prompt, because waiters poll. The mode
	// [Session] is refused.
	PoolsTransactions Pooler = "transaction"
)

// A Mode is how a server keeps locks. Locks of different modes do not exclude each other.
type Mode string

const (
	// Claims keeps a queue for each lock in rows: first come, first served, with everything that Holdfast can do.
	Claims Mode = "claims"

	// Session takes GET_LOCK or pg_advisory_lock on a connection for each claim. The server ends the connection when it
	// has been idle for the TTL. There are only mutexes; waiters are served in the server's order, and cannot be
	// listed. It is refused through a proxy that pools transactions, and SQLite has no such locks.
	Session Mode = "session"
)

// A Layout is which locks of a server the names of locks stand for.
type Layout string

// ShedLock shares the locks of programs in Java that use ShedLock with a JdbcTemplateLockProvider, or another of its
// providers that keeps the same table. It is for [MySQL] and [Postgres]. There are only mutexes, and who waits asks now
// and then: see docs/shedlock.md.
const ShedLock Layout = "shedlock"

// RawLayout shares the locks of other programs that use pg_advisory_lock or GET_LOCK themselves. On [Postgres] a name
// is the number of a lock in decimal, such as 1764327054 or -5: see [GolangMigrateKey] and [RailsMigrateKey]. On
// [MySQL] it is the name of a lock of the whole server: up to 64 characters, upper and lower case being the same.
// Other names are an error that matches [holdfast.ErrInvalidName]. When another program holds such a lock, it has no
// TTL and no token.
//
// [holdfast.ErrInvalidName]: https://pkg.go.dev/github.com/holdfast-go/holdfast#ErrInvalidName
const RawLayout Layout = "raw"

const defaultKeep = 30 * 24 * time.Hour

var errNoDialect = errors.New("sqllock: no dialect is given; use SQLite, MySQL or Postgres")

// check refuses options that are unknown, that contradict each other, or that the database cannot follow.
func (o Options) check(d *Dialect) error {
	switch {
	case d == nil:
		return errNoDialect
	case o.Mode != "" && o.Mode != Claims && o.Mode != Session:
		return fmt.Errorf("there is no mode %q; use %q or %q", o.Mode, Claims, Session)
	case o.Pooler != "" && o.Pooler != PoolsSessions && o.Pooler != PoolsTransactions:
		return fmt.Errorf("there is no pooler %q; use %q or %q, or leave it out",
			o.Pooler, PoolsSessions, PoolsTransactions)
	case o.Layout != "" && o.Layout != RawLayout && o.Layout != ShedLock:
		return fmt.Errorf("there is no layout %q; use %q or %q, or leave it out", o.Layout, RawLayout, ShedLock)
	case o.Layout == RawLayout && o.Mode != Session:
		return fmt.Errorf("the layout %q is for session locks; use the mode %q, too", o.Layout, Session)
	case o.Layout == ShedLock && o.Mode != "":
		return fmt.Errorf("the layout %q has a table of its own, and no mode; leave out the mode %q", o.Layout, o.Mode)
	case o.Layout == ShedLock && !d.isServer:
		return fmt.Errorf("%w: SQLite has no layout %q; use MySQL or PostgreSQL", errors.ErrUnsupported, o.Layout)
	case o.Table != "" && o.Layout != ShedLock:
		return fmt.Errorf("only the layout %q has a table that can be chosen; leave out the table %q",
			ShedLock, o.Table)
	case o.Connections < 0 || o.Waits < 0:
		return fmt.Errorf("a client cannot have %d connections, and %d to wait on; "+
			"use 1 or more, or 0 for the default", o.Connections, o.Waits)
	case o.Connections+o.Waits > 0 && (o.Mode == Session || o.Layout != "" || !d.isServer):
		return errors.New("the number of connections can be chosen for MySQL and PostgreSQL alone, and not in session" +
			" mode, where each claim has a connection of its own, nor in another library's layout; leave it out")
	case o.Mode == Session && !d.isServer:
		return fmt.Errorf("%w: SQLite has no session locks; leave out the mode", errors.ErrUnsupported)
	}
	return nil
}
