package etcdlock

import clientv3 "go.etcd.io/etcd/client/v3"

// Client returns the client that the driver has made.
func (d *Driver) Client() *clientv3.Client { return d.client }

// WithFormat makes a driver write records of another version, as another release of this package would.
func (d *Driver) WithFormat(version int) *Driver {
	d.format = version
	return d
}

// ThisFormat is the version that this release writes.
const ThisFormat = recordFormat
