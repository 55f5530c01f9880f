// Package sqllock keeps the queues of locks in the rows of an SQL database, through database/sql. What differs between
// databases is a [Dialect].
//
// # SQLite
//
// The URL file:PATH, or [New] with [SQLite], shares locks among the processes of one machine. The program imports a
// database/sql driver for SQLite; for the URL one that calls itself "sqlite", such as modernc.org/sqlite.
//
//   - A request is one transaction (BEGIN IMMEDIATE, write-ahead log, synchronous=FULL), so a token is on the disk before
//     anybody has it. When the file is busy the request is repeated until its context ends.
//   - Deadlines count from the boot of the machine, on CLOCK_BOOTTIME, and are void after another boot. Containers of
//     one machine that see different boot ids are refused while others use the file. Setting the wall clock neither ends
//     nor prolongs a claim. On systems without that clock it is the wall clock.
//   - Each client keeps a flock on a file of its own, in the folder PATH.clients. The kernel drops it when the last
//     process that has the file open is gone, and with it the client's claims, unless they are detached. A child
//     inherits another one, as [driver.Inheriter] says, so that it cannot let go of ours. No process id is ever compared. On systems without flock, claims of a dead
//     client live until their TTL.
//   - Users who may write the file share its locks, and get at no other file of each other by it: docs/file.md.
//   - Each client listens on a FIFO, at which others ring when something happened to one of its claims, and keeps another
//     one open whose end tells those who wait behind it that it is gone, at the same instant. Polling is only the net
//     below.
//   - Network file systems are refused: their locks may not be seen by all, and other machines have other clocks.
//
// What SQLite cannot do: order the claims of several machines; survive the removal of PATH or of files beside it (a client
// notices that its file was replaced, and then refuses to work); go on while a process is stopped in the middle of a
// transaction, which takes less than a millisecond.
// # MySQL, MariaDB and PostgreSQL
//
// The URLs mysql://user:password@host/database and postgres://user:password@host/database, or [New] with [MySQL] or
// [Postgres], share locks among machines. The program imports a database/sql driver; for the URLs one that calls itself
// "mysql", such as github.com/go-sql-driver/mysql, or "pgx", github.com/jackc/pgx/v5/stdlib. [Migrate] makes the tables.
//
//   - A request is one call of a routine in the database, and so is a release with the grants that follow from it. The
//     server's clock counts, and no transaction of the caller is touched.
//   - A routine first locks the row of its lock, which is there for good, so that none is rolled back for another. Where
//     the server does so nevertheless the call is repeated.
//   - Claims live by their TTL, not by connections.
//   - Who waits sleeps in the server until a lock of the session is let go that the client in its way holds.
//
// With [Session] as [Options.Mode], or mode=session in the URL, the server's own locks are leases: docs/sessions.md.
//
// docs/sql.md has the tables, what it costs, and what it cannot do.
package sqllock
