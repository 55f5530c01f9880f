// Package servertables keeps the queues of locks in the tables of a database server.
//
// What has to be one step is a routine in the database: a file of the folder mysql or postgres each. So a request is
// one round trip, with others waiting or without, and what it does is judged by the server's clock alone. Only what
// takes a lock that nobody has, and leaves it, is a statement without a routine: see alone.go. A routine
// that changes a queue first locks the row of that lock, which is there for good, so that one does so at a time and
// no two wait for each other.
//
// Waiters are woken by wake locks. A wake lock is an advisory lock of the server (GET_LOCK, pg_advisory_lock) that
// the client of a claim holds on a connection of its requests, and releases when the claim ends. The routine wait, on
// a connection of its own, sleeps in the server until it gets the wake lock of the claim that is in its way, and then
// looks at the tables, which are what counts: if there is no wake lock, or it is released for nothing, waiting is
// only less prompt. In the routines a wake lock is a "bell", which hang takes and ring releases. Where there is no
// connection for that, and where a proxy lets others share the sessions, the client looks at the claims itself.
package servertables
