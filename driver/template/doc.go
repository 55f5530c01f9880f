// Package template is a driver to copy: the contract of package driver over a store that has little more than
// compare-and-set, such as a bucket of keys and values. Nothing imports it. docs/drivers.md says how to copy it.
//
// The key of a lock holds the whole queue as one record. An operation reads the record, changes it in memory, and
// writes it on condition that nobody else has written it since. So each operation is atomic, and those of a batch that
// are on one lock are one write. The price is that clients of one lock that come at the same time collide: one goes on,
// and the others read again. An engine with transactions or scripts does better, and deserves another driver.
//
// The clock that counts is the store's. Each read says what that clock shows, a record says when its claims expire by
// it, and no clock of a client is ever compared with anything, so they may show what they like. Two other ways were
// weighed. A key for each claim, which the store removes in time, makes a queue of n claims n reads that are not of one
// moment, and many stores remove keys late. A client that takes a record for dead when it has seen no change for a TTL
// needs no clock, but each new client then waits for a TTL, however long the holder has been dead.
//
// That a claim has expired counts once it has been written, as any other change. Otherwise a client might read that the
// holder has expired and believe that it has the lock, while the holder's renewal, which began in time, is still on its
// way, and finds the record as it was.
//
// When the answer to a write is lost, nobody knows whether it was done. The driver says so, and its caller sends the
// operation again, which finds in the record the claim, or how it ended. For this, and to bar late copies, an ended
// claim is remembered for its longest TTL. A late write does no harm: the next one changes the revision.
package template
