// Package sqllock keeps the queues of locks in the rows of an SQL database, through database/sql.
//
// # SQLite
//
// A URL file:PATH, or [New] with a database/sql driver for SQLite, shares locks among the processes of one machine:
//
//   - Each request is one transaction (BEGIN IMMEDIATE; write-ahead log, synchronous=FULL), so a token is on disk
//     before it is granted.
//   - Deadlines count on CLOCK_BOOTTIME, together with the boot ID. Setting the clock, or a reboot, gives nobody a lock.
//   - Each client holds a flock on a file of its own, beside the database. The kernel drops it when the last process
//     that has it open has ended, and then the client's claims are dead at once. Children can inherit it: see
//     [driver.Inheriter]. No pid is ever compared.
//   - Each client listens on a FIFO beside that file. Whoever grants it a claim rings there. The claim that is next in
//     line also looks whether those ahead of it are alive; that and a slow look at the queue are the safety net.
//
// SQLite's locks, and flock, are those of the file system: network file systems are refused.
package sqllock
