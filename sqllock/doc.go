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
//   - Deadlines count from the boot of the machine, on CLOCK_BOOTTIME, and are void after another boot. Setting the wall
//     clock neither ends nor prolongs a claim. On systems without that clock it is the wall clock.
//   - Each client keeps a flock on a file of its own, in the folder PATH.clients. The kernel drops it when the last
//     process that has the file open is gone, and with it the client's claims, unless they are detached. A child
//     inherits it as [driver.Inheriter] says. No process id is ever compared. On systems without flock, claims of a dead
//     client live until their TTL.
//   - Each client listens on a FIFO, at which others ring when something happened to one of its claims, and keeps another
//     one open whose end tells those who wait behind it that it is gone, at the same instant. Polling is only the net
//     below.
//   - Network file systems are refused: their locks may not be seen by all, and other machines have other clocks.
//
// What this cannot do: order the claims of several machines; survive the removal of PATH or of files beside it (a client
// notices that its file was replaced, and then refuses to work); go on while a process is stopped in the middle of a
// transaction, which takes less than a millisecond.
package sqllock
