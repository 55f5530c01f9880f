package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

// A member is one server of the cluster, with a connection of its own. The client's own connection goes round all of
// them, and so comes again and again to one that hangs.
type member struct {
	endpoint    string
	conn        *grpc.ClientConn
	kv          pb.KVClient
	lease       clientv3.Lease
	leases      pb.LeaseClient // beneath lease
	watcher     clientv3.Watcher
	watch       pb.WatchClient // beneath watcher
	cluster     clientv3.Cluster
	maintenance clientv3.Maintenance
	auth        pb.AuthClient

	// Guarded by members.mu.
	trust    context.Context    // ends when others are preferred, because this one does not answer
	distrust context.CancelFunc // ends trust
}

// checkParts refuses a client whose requests go through parts that are not those of clientv3.New, such as those of
// package namespace. Members are asked over connections of their own, so these parts would be left out, and the keys
// would not be where their owner wants them.
func checkParts(client *clientv3.Client) error {
	if client.ActiveConnection() == nil {
		return errors.New("etcdlock: the client has no connection; open one with clientv3.New")
	}
	for _, part := range []struct {
		name      string
		has, made any
	}{
		{"KV", client.KV, clientv3.NewKV(client)},
		{"Lease", client.Lease, clientv3.NewLease(client)},
		{"Watcher", client.Watcher, clientv3.NewWatcher(client)},
	} {
		if reflect.TypeOf(part.has) != reflect.TypeOf(part.made) {
			return fmt.Errorf("etcdlock: the client's %s is a %T, which the driver would leave out; pass the client "+
				"as clientv3.New made it, and set Options.Prefix in place of a namespace", part.name, part.has)
		}
	}
	return nil
}

// newMember makes a connection to one server, with the client's settings. Nothing is sent yet.
func newMember(client *clientv3.Client, endpoint string, failed func(*member)) (*member, error) {
	conn, err := client.Dial(endpoint)
	if err != nil {
		return nil, err
	}
	m := &member{endpoint: endpoint, conn: conn}
	m.renewTrust()
	c := impatient{ClientConn: conn, failed: func() { failed(m) }, patience: silence}
	if client.Username != "" { // which asks for a token first, and any member where no authenticator does
		c.patience = dialTimeout
	}
	m.kv = pb.NewKVClient(c)
	m.leases = pb.NewLeaseClient(c)
	m.lease = clientv3.NewLeaseFromLeaseClient(m.leases, client, 0)
	m.watch = pb.NewWatchClient(c)
	m.watcher = clientv3.NewWatchFromWatchClient(m.watch, client)
	m.cluster = clientv3.NewClusterFromClusterClient(pb.NewClusterClient(c), client)
	m.maintenance = clientv3.NewMaintenanceFromMaintenanceClient(pb.NewMaintenanceClient(c), client)
	m.auth = pb.NewAuthClient(c)
	return m, nil
}

// renewTrust begins to trust a member that was not trusted.
func (m *member) renewTrust() { m.trust, m.distrust = context.WithCancel(context.Background()) }

func (m *member) close() {
	m.watcher.Close()
	m.lease.Close()
	m.conn.Close()
}

// hurryUp has the next call connect at once, however long the pause is that grpc makes after failures.
func (m *member) hurryUp() {
	if m.conn.GetState() == connectivity.TransientFailure {
		m.conn.ResetConnectBackoff()
	}
}

// An impatient connection fails calls at once while its server cannot be reached, because other members may answer.
type impatient struct {
	*grpc.ClientConn
	failed   func()        // is told when a stream cannot begin
	patience time.Duration // how long that may take
}

func (c impatient) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return c.ClientConn.Invoke(ctx, method, args, reply, append(opts, grpc.WaitForReady(false))...)
}

// impatienceKey is for the timer that gives up a stream that does not begin.
type impatienceKey struct{}

func (c impatient) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	impatience := time.AfterFunc(c.patience, cancel)
	ctx = context.WithValue(ctx, impatienceKey{}, impatience)
	opts = append(opts, grpc.WaitForReady(false), grpc.OnFinish(func(error) { cancel() }))
	s, err := c.ClientConn.NewStream(ctx, desc, method, opts...)
	if !impatience.Stop() {
		cancel()
		return nil, status.Error(codes.Unavailable, "the stream did not begin in time")
	}
	if err != nil {
		cancel()
	}
	if status.Code(err) == codes.Unavailable {
		c.failed()
	}
	return s, err
}

// keepAlive extends a lease. The client's own method asks again and again without a pause while there is no leader.
func (m *member) keepAlive(ctx context.Context, id clientv3.LeaseID) (seconds int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which ends the stream
	stream, err := m.leases.LeaseKeepAlive(ctx)
	if err == nil {
		err = stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)})
	}
	if err != nil {
		return 0, rpctypes.Error(err)
	}
	answer, err := stream.Recv()
	switch {
	case err != nil:
		return 0, rpctypes.Error(err)
	case answer.TTL <= 0:
		return 0, rpctypes.ErrLeaseNotFound
	default:
		return answer.TTL, nil
	}
}
