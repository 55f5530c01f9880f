// Package leased is the protocol of claims on engines that end them with a lease or session of their client: leases
// of etcd, sessions of ZooKeeper. [Engine] is a driver. A [Store] does for it what one server can do, and judges
// nothing.
//
// # The life of a claim
//
// A claim is a seat in the queue of its lock. The seat lives by a session, which many claims of one client share, so
// it does not end when one of them is no longer renewed. The engine therefore keeps the time of each claim itself.
//
//	              put, nobody is ahead
//	     +-----------------------------------------+
//	     |                                         v
//	ENTERING ------> WAITING ----------------> GRANTED
//	  |      put,       |      those ahead        |
//	  |      others     |      leave              |
//	  |      are ahead  |                         |
//	  |                 +------------+------------+
//	  |                 |            |            |
//	  |    released, broken,         | its time is over
//	  |    or the session is lost    v
//	  |                 |         LEAVING
//	  | undone          |            |
//	  v                 v            v  taken out of the queue
//	OVER: the ID is barred for the claim's longest TTL, and then forgotten
//
// In short:
//
//   - Entering: Enter was sent. It puts the claim at the end of the queue, unless its ID is there or has ended, and
//     reads those ahead. An answer that was lost leaves the claim in doubt: the step is sent again, and finds what
//     the first copy did.
//   - Waiting: the seat has a token, which is its place in the queue. What follows for the claim from those ahead is
//     a [Verdict]: that it is granted, or what to watch. The engine watches that, and the claim's own seat. Most
//     events mean "ask": the client's next question reads the queue again. Only the end of the single claim ahead
//     grants without a question, and only where events tell of both ends in their order ([Verdict].Sure).
//   - Granted: nothing can come ahead any more, so a claim stays granted until it is over. One that shares its lock
//     marks its seat with its [Bounds], so that those behind it need not read all that are ahead.
//   - Leaving: nobody renewed the claim in time. It is over for its callers, and the engine takes it out of the
//     queue, again until that is confirmed. Until then nobody takes it over from there.
//   - Over: a copy of its request that comes late must not queue it again. The store remembers its end (a
//     tombstone). What the store was not asked to remember, or lost together with a session, the engine does
//     ([Claims.Remember]).
//
// A renewal is a Look that keeps the session alive. A claim may move from session to session where the store can move
// seats: to one of its own when it is left alone (detached), to one for another TTL, or to that of another client
// that goes on with it. A move that was not answered leaves the claim in doubt between two sessions; it is then looked
// for, and taken out, in both.
//
// # Batches
//
// [Engine.Do] runs each operation of a batch as a coroutine, which asks for one [Step] after the other. The steps
// that are asked for at the same time are applied together. So the protocol is written as if for one operation, and a
// batch of any operations takes as many rounds as the slowest of them. Nothing runs for a claim that waits.
//
// # What is the store's, and what the engine's
//
// The store decides how claims are laid out: names of keys, whether they are used again, how a claim is found by its
// ID, what a tombstone is, how late copies of its own repeats are told from the newest. The engine tells it what it
// must know for that: that a step may have been sent before (Step.Again), that no copy of a claim's request can be
// under way (Step.Clean, Session.Give), for how long an end counts (Step.Keep).
package leased
