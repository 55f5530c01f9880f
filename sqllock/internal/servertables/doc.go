// Package claims keeps the queues of locks in the tables of a database server.
//
// What has to be one step is a routine in the database: a file of the folder mysql or postgres each. So a request is one
// round trip, with others waiting or without, and what it does is judged by the server's clock alone. A routine that
// changes a queue first locks the row of that lock, which is there for good, so that one does so at a time and no two wait
// for each other.
//
// Who waits is woken by bells. A bell is a lock of the session (GET_LOCK, pg_advisory_lock) that the client of a claim
// holds on the connection that all its requests use, and lets go when the claim ends. The routine wait, on a connection of
// its own, sleeps in the server until it gets the bell of the claim that is in its way, and then looks at the tables,
// which are what counts: where no bell hangs, or it rings for nothing, waiting is only less prompt.
package servertables
