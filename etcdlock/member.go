package etcdlock

import (
	"context"
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
	kv          clientv3.KV
	lease       clientv3.Lease
	watcher     clientv3.Watcher
	watch       pb.WatchClient // beneath watcher; nil where the client's own parts are used and were replaced
	cluster     clientv3.Cluster
	maintenance clientv3.Maintenance
	auth        pb.AuthClient // nil like watch
	keepAlive   func(context.Context, clientv3.LeaseID) (seconds int64, err error)
	conn        *grpc.ClientConn // nil when the client's own is used

	// Guarded by members.mu.
	trust    context.Context    // ends when others are preferred, because this one does not answer; nil: it never ends
	distrust context.CancelFunc // ends trust
}

// whole stands for all members by the client itself: where there is one server only, and for a client whose parts
// were replaced, such as by package namespace.
func whole(client *clientv3.Client) *member {
	m := &member{
		kv: client.KV, lease: client.Lease, watcher: client.Watcher,
		cluster: client.Cluster, maintenance: client.Maintenance, distrust: func() {},
		keepAlive: func(ctx context.Context, id clientv3.LeaseID) (int64, error) {
			answer, err := client.KeepAliveOnce(ctx, id)
			if err != nil {
				return 0, err
			}
			return answer.TTL, nil
		},
	}
	if isPlain(client) {
		m.watch = pb.NewWatchClient(client.ActiveConnection())
		m.auth = pb.NewAuthClient(client.ActiveConnection())
	}
	return m
}

// isPlain reports whether a client speaks to its servers as clientv3.New made it.
func isPlain(client *clientv3.Client) bool {
	return client.ActiveConnection() != nil &&
		reflect.TypeOf(client.KV) == reflect.TypeOf(clientv3.NewKV(client)) &&
		reflect.TypeOf(client.Lease) == reflect.TypeOf(clientv3.NewLease(client)) &&
		reflect.TypeOf(client.Watcher) == reflect.TypeOf(clientv3.NewWatcher(client))
}

// newMember makes a connection to one server, with the client's settings. Nothing is sent yet.
func newMember(client *clientv3.Client, endpoint string, failed func(*member)) (*member, error) {
	conn, err := client.Dial(endpoint)
	if err != nil {
		return nil, err
	}
	m := &member{endpoint: endpoint, conn: conn}
	c := impatient{ClientConn: conn, failed: func() { failed(m) }, patience: silence}
	if client.Username != "" { // which asks for a token first, and any member where no authenticator does
		c.patience = dialTimeout
	}
	lease := pb.NewLeaseClient(c)
	m.kv = clientv3.NewKVFromKVClient(pb.NewKVClient(c), client)
	m.lease = clientv3.NewLeaseFromLeaseClient(lease, client, 0)
	m.watch = pb.NewWatchClient(c)
	m.watcher = clientv3.NewWatchFromWatchClient(m.watch, client)
	m.cluster = clientv3.NewClusterFromClusterClient(pb.NewClusterClient(c), client)
	m.maintenance = clientv3.NewMaintenanceFromMaintenanceClient(pb.NewMaintenanceClient(c), client)
	m.auth = pb.NewAuthClient(c)
	m.keepAlive = func(ctx context.Context, id clientv3.LeaseID) (int64, error) { return keepAliveOnce(ctx, lease, id) }
	m.renewTrust()
	return m, nil
}

// renewTrust begins to trust a member that was not trusted.
func (m *member) renewTrust() {
	if m.conn != nil {
		m.trust, m.distrust = context.WithCancel(context.Background())
	}
}

func (m *member) close() {
	if m.conn == nil {
		return
	}
	m.watcher.Close()
	m.lease.Close()
	m.conn.Close()
}

// hurryUp has the next call connect at once, however long the pause is that grpc makes after failures.
func (m *member) hurryUp() {
	if m.conn != nil && m.conn.GetState() == connectivity.TransientFailure {
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

// keepAliveOnce extends a lease. The client's own method asks again and again without a pause while there is no
// leader.
func keepAliveOnce(ctx context.Context, client pb.LeaseClient, id clientv3.LeaseID) (seconds int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which ends the stream
	stream, err := client.LeaseKeepAlive(ctx)
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
