// Package sqlite keeps the queues of locks in the rows of an SQLite database, for the processes of one machine.
//
// The operations of a batch are one transaction: BEGIN IMMEDIATE, write-ahead log. Looks are such transactions, too:
// no client ever holds a snapshot while others write. A transaction waits for the disk only if it changes what
// outlives a boot. While a batch is written, the next one gathers. Deadlines are on CLOCK_BOOTTIME, or on the wall
// clock where a system has no such clock.
//
// Each client has a FIFO in the folder PATH.clients, by which others see that it lives and wake it. It keeps the
// FIFO open for reading, and so do children that inherit its claims. The system lets nobody open a FIFO for writing
// that nobody reads, and tells those who have it open when the last reader is gone. So the claims of a client count
// while it has readers, unless they are detached. No process id is ever compared. Others write to it the ID of a
// claim when something happened to that claim.
//
// The database alone counts: the FIFOs only say when to look, and a poll finds what they failed to say.
package sqlite
