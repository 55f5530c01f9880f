// Package etcdlock keeps locks in etcd: transactions, leases and watches. Importing it registers the URL scheme etcd.
//
// A claim is a key, <prefix>/<encoded name>/<claim ID>/<lease>, and its fencing token is the revision that created the
// key. Places in the queue are in the order of these revisions. Acquiring is one transaction, which puts the key unless
// it is there, or ended before, and reads the newest claims ahead of it; releasing is one that deletes the key if it is
// still the same, and notes the end.
//
// Claims of one TTL share a lease, which lives a second longer and is extended, at most once a second, along with the
// requests that need it. So claims end when their process does. While it lives, it takes out of the queue those that
// nobody renews.
//
// A waiting claim watches its own key, and the nearest claim ahead that rules it out, from the time the watch is created
// on; it reads again only when something happened in between, or when what it watched ended and more was ahead. With
// claims that share, the oldest that waits watches the whole queue, and those behind it wait for the one just ahead to
// note that it is granted. Any trouble with a watch leads to another look.
package etcdlock
