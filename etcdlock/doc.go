// Package etcdlock keeps locks in etcd: transactions, leases and watches. Importing it registers the URL scheme etcd:
//
//	etcd://user:password@host1:2379,host2:2379/prefix?tls=true
//
// docs/etcd.md has its parameters.
//
// A claim is a key, <prefix>/<encoded name>/<lease>/<number>, and its fencing token is the revision that created the
// key. The queue is in the order of these revisions. One transaction acquires: it reads the newest claims ahead, and
// puts the key, unless the claim is there or has ended before. Another one releases: it deletes the key if it is still
// the same. Where a copy of the request may be under way, it also leaves a tombstone, so that the copy queues nothing.
//
// Claims of one TTL share a lease, which lives a second longer than they do and is extended, at most once a
// second, along with the requests that need it. So claims end when their process does. While the process lives, it
// takes claims out of the queue that nobody renews.
//
// A waiting claim watches its own key and the nearest claim ahead that rules it out. It reads the queue again only if
// something happened before the watch was created, or if what it watched has ended and other claims are ahead. Among
// claims that share a lock, the oldest that waits watches the whole queue, and those behind it wait until the one just
// ahead notes that it is granted. Whatever goes wrong with a watch, the queue is read again.
package etcdlock
