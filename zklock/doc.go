// Package zklock keeps locks in ZooKeeper: ephemeral nodes in the order of their sequence numbers. Importing it
// registers the URL scheme zk.
//
// A claim is a node below that of its lock, and its fencing token is the zxid that created it. The name of the node
// says what others must know to judge the claim, so one listing of names shows the whole queue. The change that queues
// a claim also tells whether it is alone there: then it is granted, and nothing is listed. A second node, the
// note, is made together with it, under a name that follows from the claim's ID: while the note exists, the claim
// cannot be queued again. It holds what people may want to know. After the end of the claim it stays for a TTL as the
// tombstone, which says how the claim ended.
//
// ZooKeeper gives a connection one timeout, so claims of one TTL share a session, which lives up to a second longer
// than they do. When the session ends, the server deletes its nodes in one change that names them all. That change must
// not become too large, so a session that is full takes no more claims, and the client begins another one. Claims end
// when their process does. While the process lives, it takes claims out of the queue that nobody renews. A renewal
// writes a heartbeat, because only a write shows that the leader still counts the session as alive.
//
// A waiting claim watches its own node and the nearest claim ahead that rules it out. If that was the only one ahead,
// its end is the grant; otherwise the queue is listed again. In a line of claims that each exclude the others, a waiter
// also watches the one before that, at whose end the nearest is granted: it lists the queue then, while the lock is
// held, and not when the lock is free. If only the sum of the weights rules a claim out, the oldest waiter watches the
// whole queue, and those behind it wait until the one just ahead notes that it is granted.
package zklock
