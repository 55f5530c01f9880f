// Package sqlite keeps the queues of locks in the rows of an SQLite database, for the processes of one machine.
//
// The operations of a batch are one transaction: BEGIN IMMEDIATE, write-ahead log. Looks are such transactions, too:
// no client ever holds a snapshot while others write. A transaction waits for the disk only if it changes what outlives
// a boot. While a batch is written, the next one gathers. Deadlines are on CLOCK_BOOTTIME, or on the wall clock where a
// system has no such clock.
//
// Each client keeps files in the folder PATH.clients, by which others see that it lives and wake it:
//
//   - a file under a flock, which the kernel drops when the last process that has the file open is gone. The claims
//     of the client count while it is locked, unless they are detached. A child inherits the flock of another file,
//     so that it cannot let go of its parent's. No process id is ever compared.
//   - a FIFO that the client keeps open for writing. Those who wait behind it read, and see the end at once when it
//     dies.
//   - a FIFO at which it listens. Others write the ID of a claim to it when something happened to that claim.
//
// What counts is what the database says: the files only say when to look, and a poll finds what they failed to say.
package sqlite
