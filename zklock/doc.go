// Package zklock keeps locks in ZooKeeper: ephemeral nodes in the order of their sequence numbers. Importing it registers
// the URL scheme zk.
//
// A claim is a node below that of its lock, and its fencing token is the zxid that created it. The name of the node says
// what others must know to judge the claim, so one list of names tells the whole queue. Together with the node a note is
// made, under a name that follows from the claim's ID: while the note is there the claim cannot be queued again. It holds
// what people may want to know, and for a TTL after the end how the claim ended.
//
// ZooKeeper gives a connection one timeout, so claims of one TTL share a session, which lives up to a second longer. The
// server drops the nodes when the session ends, in one change that names them all and must not become too large; so a
// session that is full takes no more, and the next one of the same TTL does. Claims end when their process does. While it lives, it takes out of the
// queue those that nobody renews. A renewal writes a heartbeat, since only a write shows that the leader still counts the
// session as alive.
//
// A waiting claim watches its own node and the nearest claim ahead that rules it out. When that was the only one ahead,
// its end is the grant; otherwise the queue is listed again. Where only the sum of the weights does not fit, the oldest
// that waits watches the whole queue, and those behind it wait until the one just ahead notes that it is granted.
package zklock
