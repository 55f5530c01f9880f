// Package zklock keeps locks in ZooKeeper: ephemeral nodes in the order of their sequence numbers. Importing it
// registers the URL scheme zk.
//
// A claim is a node below that of its lock, and its fencing token is the zxid that created it. The name of the
// node says what others must know to judge the claim, so one list of names tells the whole queue. A note is made
// together with the node, under a name that follows from the claim's ID: while the note is there, the claim cannot
// be queued again. It holds what people may want to know, and for a TTL after the end it is the tombstone, which
// says how the claim ended.
//
// ZooKeeper gives a connection one timeout, so claims of one TTL share a session, which lives up to a second
// longer than they do. When the session ends, the server deletes its nodes in one change that names them all. That
// change must not become too large, so a session that is full takes no more claims, and another one is begun.
// Claims end when their process does. While the process lives, it takes claims out of the queue that nobody
// renews. A renewal writes a heartbeat, because only a write shows that the leader still counts the session as
// alive.
//
// A waiting claim watches its own node and the nearest claim ahead that rules it out. When that was the only one
// ahead, its end is the grant; otherwise the queue is listed again. Where only the sum of the weights does not
// fit, the oldest that waits watches the whole queue, and those behind it wait until the one just ahead notes that
// it is granted.
package zklock
