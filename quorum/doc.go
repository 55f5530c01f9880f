// Package quorum makes one driver of several independent ones: what a majority of them grants is granted. Over Redis
// servers that is Redlock, with fencing tokens. Importing the package registers the URL scheme redlock:
//
//	redlock://h1,h2,h3?maxttl=1m
//
// opens each host as redis://, so redislock must be imported too. [New] makes a quorum of any drivers that can vote.
//
// A claim is proposed to all nodes at once, with a token that is probably greater than all before it. So one round trip
// acquires a free lock; a second one follows if the token was too small. The answers of a majority are enough. The
// others are followed up in the background, so nobody waits for slow or dead nodes. A waiter stands in line on one
// node. Only the first in line tries again, when the nodes report that the lock was released.
//
// A node is an engine, not an address: nodes that answer in the same life have one vote together, and a URL with such
// nodes is refused.
//
// A lock is exclusive as long as fewer nodes than the majority has to spare forget it, or expire it early, at one time.
// Tokens are unique and grow, whatever happens to locks, clocks and messages, as long as no more nodes than a majority
// can spare restart without their data within an hour. A restarted node does not vote for as long as a claim may live
// (the parameter maxttl), and on each name only after it has learnt what the others know. docs/redlock.md has the
// protocol, the proof and its limits.
//
// The package takes locks for one holder only: readers and semaphores are refused. Its queue is the claim that a
// majority has granted, and those that stand in line on the nodes that answer. The order of waiters is kept as well as
// their node can keep it, but not promised.
package quorum
