package etcdlock

import (
	"context"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// Transactions are built of etcd's own messages: the types that clientv3 has for them are copied twice on their way,
// which took a tenth of the client's time where 64 locks are in use.

// sizes are those that clientv3 allows by default: requests of 2 MiB, which is what a server reads, and any answer.
var sizes = []grpc.CallOption{grpc.MaxCallSendMsgSize(2 << 20), grpc.MaxCallRecvMsgSize(math.MaxInt32)}

// commit does a transaction. again is as that of ask.
func (d *Driver) commit(
	ctx context.Context, ifs []*pb.Compare, then, otherwise []*pb.RequestOp,
) (answer *pb.TxnResponse, again bool, err error) {
	txn := &pb.TxnRequest{Compare: ifs, Success: then, Failure: otherwise}
	return ask(ctx, d, func(ctx context.Context, m *member) (*pb.TxnResponse, error) {
		answer, err := m.kv.Txn(ctx, txn, sizes...)
		return answer, clientv3.ContextError(ctx, err)
	})
}

// get reads keys.
func (d *Driver) get(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	answer, _, err := ask(ctx, d, func(ctx context.Context, m *member) (*pb.RangeResponse, error) {
		answer, err := m.kv.Range(ctx, r, sizes...)
		return answer, clientv3.ContextError(ctx, err)
	})
	return answer, err
}

// is compares the key with a claim that has this token.
func is(key string, token uint64) *pb.Compare { return created(key, pb.Compare_EQUAL, int64(token)) }

// absent compares the key with none.
func absent(key string) *pb.Compare { return created(key, pb.Compare_EQUAL, 0) }

// present compares the key with any.
func present(key string) *pb.Compare { return created(key, pb.Compare_GREATER, 0) }

// noneSince compares all keys that begin with prefix with those that were there before this revision.
func noneSince(prefix string, revision int64) *pb.Compare {
	c := created(prefix, pb.Compare_LESS, revision)
	c.RangeEnd = endOf(prefix)
	return c
}

// created compares the revision that made a key, which is 0 for one that is not there.
func created(key string, how pb.Compare_CompareResult, revision int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Result: how,
		Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{CreateRevision: revision},
	}
}

// unchanged compares the key with what it was at its last change.
func unchanged(key string, revision int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{ModRevision: revision},
	}
}

// isOn compares the lease of the key.
func isOn(key string, l clientv3.LeaseID) *pb.Compare {
	return &pb.Compare{Key: []byte(key), Target: pb.Compare_LEASE, TargetUnion: &pb.Compare_Lease{Lease: int64(l)}}
}

// nestedOp is a transaction that is a step of another one.
func nestedOp(ifs []*pb.Compare, then, otherwise []*pb.RequestOp) *pb.RequestOp {
	txn := &pb.TxnRequest{Compare: ifs, Success: then, Failure: otherwise}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: txn}}
}

// putOp writes a key that ends with a lease; with none where that is [clientv3.NoLease].
func putOp(key, value string, l clientv3.LeaseID) *pb.RequestOp {
	return writeOp(&pb.PutRequest{Key: []byte(key), Value: []byte(value), Lease: int64(l)})
}

// rewriteOp writes a key that is there, and stays on its lease.
func rewriteOp(key, value string) *pb.RequestOp {
	return writeOp(&pb.PutRequest{Key: []byte(key), Value: []byte(value), IgnoreLease: true})
}

func writeOp(r *pb.PutRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r}}
}

func deleteOp(key string) *pb.RequestOp {
	r := &pb.DeleteRangeRequest{Key: []byte(key)}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}}
}

func getOp(key string) *pb.RequestOp { return readOp(only(key)) }

func readOp(r *pb.RangeRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}}
}

func only(key string) *pb.RangeRequest { return &pb.RangeRequest{Key: []byte(key)} }

// oldestFirst reads all keys that begin with prefix, in the order in which they were made.
func oldestFirst(prefix string) *pb.RangeRequest {
	return &pb.RangeRequest{
		Key: []byte(prefix), RangeEnd: endOf(prefix),
		SortTarget: pb.RangeRequest_CREATE, SortOrder: pb.RangeRequest_ASCEND,
	}
}

// newestFirst reads so many of the keys that begin with prefix and were made last.
func newestFirst(prefix string, n int64) *pb.RangeRequest {
	r := oldestFirst(prefix)
	r.SortOrder, r.Limit = pb.RangeRequest_DESCEND, n
	return r
}

func endOf(prefix string) []byte { return []byte(clientv3.GetPrefixRangeEnd(prefix)) }
