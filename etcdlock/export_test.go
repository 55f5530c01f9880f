package etcdlock

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
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

// The methods below make one attempt at one operation, for tests that watch it. No Sender keeps them apart, and nothing
// is followed.

func (d *Driver) Request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	r := d.do(ctx, driver.Op{Kind: driver.OpRequest, Claim: c})
	return r.Status, r.Err
}

func (d *Driver) Release(ctx context.Context, c driver.Claim) error {
	return d.do(ctx, driver.Op{Kind: driver.OpRelease, Claim: c}).Err
}

func (d *Driver) Break(ctx context.Context, name, id string) error {
	return d.do(ctx, driver.Op{Kind: driver.OpBreak, Claim: driver.Claim{Name: name, ID: id}}).Err
}

func (d *Driver) Revoke(ctx context.Context, name, id string) error {
	return d.do(ctx, driver.Op{Kind: driver.OpRevoke, Claim: driver.Claim{Name: name, ID: id}}).Err
}

func (d *Driver) Value(ctx context.Context, name string) (driver.Value, error) {
	r := d.do(ctx, driver.Op{Kind: driver.OpValue, Claim: driver.Claim{Name: name}})
	return r.Value, r.Err
}

func (d *Driver) SetValue(ctx context.Context, c driver.Claim, v driver.Value) error {
	return d.do(ctx, driver.Op{Kind: driver.OpSetValue, Claim: c, Value: v}).Err
}

func (d *Driver) Queue(ctx context.Context, name string) ([]driver.Entry, error) {
	r := d.do(ctx, driver.Op{Kind: driver.OpQueue, Claim: driver.Claim{Name: name}})
	return r.Queue, r.Err
}

func (d *Driver) Renew(ctx context.Context, claims []driver.Claim) ([]driver.Result, error) {
	return claimed.Renew(ctx, d, claims), nil
}

func (d *Driver) Wait(ctx context.Context, c driver.Claim) (driver.Status, error) {
	return d.wait(ctx, c)
}

func (d *Driver) Watch(ctx context.Context, name string) error {
	return d.changed(ctx, name, func() {})
}

func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	return d.listen(ctx, c, moved)
}
