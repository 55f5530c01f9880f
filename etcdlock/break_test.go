package etcdlock

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Who breaks a claim that is gone, after an attempt without an answer, has done so only if its end says that: what was
// released meanwhile, or is a later claim's end, nobody has broken.
func TestBrokenByAnUnansweredAttempt(t *testing.T) {
	t.Parallel()
	d := alone(t)
	const token = 7
	note := func(n tombstone) *pb.RangeResponse {
		n.Format = d.format
		return &pb.RangeResponse{Kvs: []*mvccpb.KeyValue{{Key: []byte("end"), Value: []byte(encode(n))}}}
	}
	for _, row := range []struct {
		why    string
		end    *pb.RangeResponse
		broken bool
	}{
		{"its end", note(tombstone{Token: token}), true},
		{"no end", &pb.RangeResponse{}, false},
		{"a release", note(tombstone{Token: token, Released: true}), false},
		{"the end of another claim", note(tombstone{Token: token + 1}), false},
	} {
		if d.isBroken(row.end, token) != row.broken {
			t.Errorf("%s: want %t", row.why, row.broken)
		}
	}
}
