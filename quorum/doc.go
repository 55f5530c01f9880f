// Package quorum makes one driver of several that know nothing of each other: what a majority of them grants is
// granted. Over Redis servers that is Redlock, with fencing tokens. Importing the package registers the URL scheme
// redlock:
//
//	redlock://h1,h2,h3?maxttl=1m
//
// opens each host as redis://, so redislock must be imported too. [New] makes a quorum of any drivers that can vote.
//
// A claim is proposed to all nodes at once, with a guess at a token that is greater than all before it: one round
// trip acquires a free lock, a second one follows when the guess was too small. The answer of a majority is enough;
// the other nodes are followed up in the background, so neither slow nor dead ones are waited for. Whoever waits
// stands in line on one node, and only the first in line tries, when the nodes tell that the lock was released.
//
// A node is an engine, not a name: nodes that answer in the same life have one vote together, and a URL with such
// nodes is refused.
//
// A lock is exclusive as long as fewer nodes than the majority has to spare forget it, or expire it early, at one time.
// Tokens are unique and grow whatever happens to locks, clocks and messages, as long as no more nodes restart without
// their data within an hour than a majority can spare. A restarted node does not vote for as long as a claim may live
// (the parameter maxttl), and on each name only after it has learnt what the others know. docs/redlock.md has the
// protocol, the proof and its limits.
//
// The package takes locks for one holder only: readers and semaphores are refused. Its queue is what a majority has
// granted, and who stands in line on the nodes that answer. The order of waiting clients is kept as well as the node
// in question can, and not promised.
package quorum
