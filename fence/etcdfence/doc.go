// Package etcdfence refuses writes to etcd that come from a holder who has lost the lock and does not know it yet.
//
// [Do] compares tokens, which may come from a lock on any engine. [Find] is for locks of package etcdlock on the same
// etcd: it makes a comparison with the lock's own key, so that a transaction is done only while the lock is held, and
// nothing has to be remembered.
package etcdfence
