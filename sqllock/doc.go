// Package sqllock keeps locks in SQL databases, through database/sql. A [Dialect] is one kind of database.
//
// # SQLite
//
// The URL file:PATH, or [New] with [SQLite], shares locks among the processes of one machine. The program imports a
// database/sql driver for SQLite; for the URL one that calls itself "sqlite", such as modernc.org/sqlite.
//
//   - Tokens grow, also after a power failure with a clock that lost its time. What outlives a boot, detached claims
//     and values, is on the disk before anybody is told of it; the rest is not waited for: docs/file.md.
//   - When the file is busy the request is repeated until its context ends.
//   - Deadlines count from the boot of the machine, and are void after another boot. Containers of one machine that
//     see different boot ids are refused while others use the file. Setting the wall clock neither ends nor prolongs
//     a claim, except on systems that do not tell the time since they booted.
//   - The claims of a process end when it dies, unless they are detached or a child has inherited them: see
//     [driver.Inheriter]. On systems without FIFOs they live until their TTL.
//   - Users who may write the file share its locks, and get at no other file of each other by it: docs/file.md.
//   - A waiter is woken at once when it is granted the lock, and when the process ahead of it dies.
//   - Network file systems are refused: their locks may not be seen by all, and other machines have other clocks.
//
// What SQLite cannot do: order the claims of several machines; survive the removal of PATH or of files beside it (a
// client notices that its file was replaced, and then refuses to work); go on while a process is stopped in the
// middle of a transaction, which takes less than a millisecond.
//
// # MySQL, MariaDB and PostgreSQL
//
// The URLs mysql://user:password@host/database and postgres://user:password@host/database, or [New] with [MySQL] or
// [Postgres], share locks among machines. The program imports a database/sql driver; for the URLs one that calls
// itself "mysql", such as github.com/go-sql-driver/mysql, or "pgx", github.com/jackc/pgx/v5/stdlib. [Migrate] makes
// the tables.
//
//   - A request is one call of a routine in the database, and so is a release with the grants that follow from it.
//     For a lock that nobody else wants each is a single UPDATE. The server's clock counts, and no transaction of the
//     caller is touched.
//   - A routine first locks the row of its lock, which is there for good, so that the server rolls none back for
//     another. Where it does so nevertheless, the call is repeated.
//   - Claims live by their TTL, not by connections.
//   - A waiter sleeps in the server, on a lock of the server that the client ahead of it holds until its claim ends.
//
// With [Session] as [Options.Mode], or mode=session in the URL, the server's own locks are leases:
// docs/sessions.md. With [ShedLock] as [Options.Layout], or layout=shedlock, locks are those of programs with that
// library: docs/shedlock.md.
//
// docs/sql.md has the tables, what it costs, and what it cannot do.
//
// # Without a lease
//
// [InTx] holds a lock for as long as a transaction lasts, and [ForUpdate] locks rows of the caller's own:
// docs/transactions.md.
package sqllock
