// Package leased is what the drivers of etcd and ZooKeeper have in common: the life of a claim that the server ends
// together with a lease or session of its client. It talks to no server.
//
// # The life of a claim
//
// A claim is a key or node in the queue of its lock. It lives by a session, which many claims of one client share, so
// it does not end when one of them is no longer renewed. A client therefore keeps a registry of the claims that it
// requested ([Claims]), each with the instant until which it lives ([Claim.Live]).
//
//	              queued, nobody is ahead
//	     +-----------------------------------------+
//	     |                                         v
//	ENTERING ------> WAITING ----------------> GRANTED
//	  |     queued,     |      those ahead        |
//	  |     others      |      leave              |
//	  |     are ahead   |                         |
//	  |                 +------------+------------+
//	  |                 |            |            |
//	  |    released, broken,         | its time is over
//	  |    or the session is lost    v
//	  |                 |         LEAVING
//	  | undone          |            |
//	  v                 v            v  taken out of the queue
//	OVER: its ID is barred for its longest TTL, and then forgotten
//
// In short:
//
//   - Entering: the request was sent ([Claims.Enter]). If its answer is lost, the claim is in doubt ([Claim.Doubt]):
//     the request is sent again, and finds what the first copy did.
//   - Waiting: the claim has a token, which is its place in the queue. What follows for it from the claims ahead is a
//     [Verdict]: it is granted, or what to watch. [Judge] restates the rule of [driver.Granted] for claims that are
//     read from the server, and [JudgeNewest] for one of which only the newest claims ahead were read.
//   - Granted: nothing can come ahead of the claim any more, so it stays granted until it is over. One that shares its
//     lock notes its [Bounds], so that those behind it need not read all that are ahead ([IsWorthMarking]).
//   - Leaving: nobody renewed the claim in time. It is over for its callers, and its client takes it out of the queue,
//     again until the server has confirmed that.
//   - Over: a copy of the request that comes late must not queue the claim again. The server remembers its end
//     ([Tombstone]), and what the server may not know the client does ([Claims.Remember]).
//
// # What stays with the drivers
//
// Sending requests and watching differ from engine to engine. So does taking over claims of other clients, which a
// lease of etcd allows and a session of ZooKeeper does not.
package leased
