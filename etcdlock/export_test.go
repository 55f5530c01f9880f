package etcdlock

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Client returns the client that the driver has made.
func (d *Driver) Client() *clientv3.Client { return d.client }

// WithFormat makes a driver write records of another version, as another release of this package would.
func (d *Driver) WithFormat(version int) *Driver {
	d.format = version
	return d
}

// ThisFormat is the version that this release writes.
const ThisFormat = recordFormat

// AskThrough has a driver that nobody uses yet ask its only server through another client for keys.
func (d *Driver) AskThrough(wrap func(pb.KVClient) pb.KVClient) {
	d.members.current.kv = wrap(d.members.current.kv)
}

// WatchThrough has a driver that nobody uses yet listen to its only server through another Watcher.
func (d *Driver) WatchThrough(wrap func(clientv3.Watcher) clientv3.Watcher) {
	d.members.current.watcher = wrap(d.members.current.watcher)
}
