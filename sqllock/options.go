package sqllock

import (
	"errors"
	"fmt"
	"time"
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

var errNoDialect = errors.New("sqllock: no dialect is given; use SQLite, MySQL or Postgres")

// check refuses options that are unknown, that contradict each other, or that the database cannot follow.
func (o Options) check(d *Dialect) error {
	switch {
	case d == nil:
		return errNoDialect
	case o.Mode != "" && o.Mode != Claims && o.Mode != Session:
		return fmt.Errorf("there is no mode %q; use %q or %q", o.Mode, Claims, Session)
	case o.Pooler != "" && o.Pooler != PoolsSessions && o.Pooler != PoolsTransactions:
		return fmt.Errorf("there is no pooler %q; use %q or %q, or leave it out", o.Pooler, PoolsSessions, PoolsTransactions)
	case o.Layout != "" && o.Layout != RawLayout:
		return fmt.Errorf("there is no layout %q; use %q, or leave it out", o.Layout, RawLayout)
	case o.Layout != "" && o.Mode != Session:
		return fmt.Errorf("the layout %q is for locks of sessions; use the mode %q, too", o.Layout, Session)
	case o.Connections < 0 || o.Waits < 0:
		return fmt.Errorf("a client cannot have %d connections, and %d to wait on; use 1 or more, or 0 for what is usual",
			o.Connections, o.Waits)
	case o.Connections+o.Waits > 0 && (o.Mode == Session || !d.isServer()):
		return errors.New("the number of connections can be chosen for MySQL and PostgreSQL alone, and not in session mode," +
			" where each claim has its own; leave it out")
	case o.Mode == Session && !d.isServer():
		return fmt.Errorf("%w: SQLite has no locks of sessions; leave out the mode", errors.ErrUnsupported)
	}
	return nil
}
