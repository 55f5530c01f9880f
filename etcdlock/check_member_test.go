package etcdlock_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// encoded is the opposite of decoded.
func encoded(t testing.TB, m any) []byte {
	t.Helper()
	data, err := encoding.GetCodecV2(proto.Name).Marshal(m)
	if err != nil {
		t.Error(err)
	}
	return data.Materialize()
}

// tellState has a server tell another state than it has.
func (f *front) tellState(t *testing.T, change func(*pb.StatusResponse)) {
	f.answer(func(c *call) ([]byte, error) {
		answer, err := c.forward()
		if c.method == "Maintenance/Status" && err == nil {
			state := decoded(t, answer, new(pb.StatusResponse))
			change(state)
			answer = encoded(t, state)
		}
		return answer, err
	})
}

// found returns the finding with this in its fact, which must be the same each time.
func found(t *testing.T, d *etcdlock.Driver, fact string) (f driver.Finding) {
	t.Helper()
	for i := range 3 {
		findings, err := d.Check(limit(t), false)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(findings, func(f driver.Finding) bool { return strings.Contains(f.Fact, fact) })
		switch {
		case at < 0:
			t.Fatalf("no finding says %q: %+v", fact, findings)
		case i > 0 && findings[at] != f:
			t.Errorf("it is %+v, and then %+v", f, findings[at])
		}
		f = findings[at]
	}
	if (f.Level == driver.Fine) != (f.Advice == "") {
		t.Errorf("%+v: what is not well needs advice", f)
	}
	return f
}

// Check names what stands at an address where a member should.
func TestCheckNamesWhatIsNoMember(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	f.tellState(t, func(s *pb.StatusResponse) { s.Header.MemberId, s.Leader = 0, 0 }) // as kine does
	if got := found(t, d, "is not etcd"); got.Level != driver.Unsafe {
		t.Errorf("of a server that is no member: %+v", got)
	}
	f.tellState(t, func(s *pb.StatusResponse) { s.IsLearner, s.Leader = true, 0 })
	if got := found(t, d, "is a learner"); got.Level != driver.Warning || !strings.Contains(got.Advice, "vote") {
		t.Errorf("of a learner: %+v", got)
	}
	f.tellState(t, func(s *pb.StatusResponse) { s.Leader = 0 })
	if got := found(t, d, "knows no leader"); got.Level != driver.Unsafe {
		t.Errorf("of a member without a leader: %+v", got)
	}
	var asked atomic.Uint64
	f.tellState(t, func(s *pb.StatusResponse) { s.Header.MemberId += asked.Add(1) })
	if got := found(t, d, "leads to several members"); got.Level != driver.Warning {
		t.Errorf("of a balancer: %+v", got)
	}
}

// Check names a proxy that lists itself as the only member.
func TestCheckNamesAProxy(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	f.answer(func(c *call) ([]byte, error) {
		answer, err := c.forward()
		if c.method == "Cluster/MemberList" && err == nil {
			answer = encoded(t, &pb.MemberListResponse{Members: []*pb.Member{{Name: "proxy"}}})
		}
		return answer, err
	})
	if got := found(t, d, "a proxy answers"); got.Level != driver.Warning {
		t.Errorf("got %+v", got)
	}
}

// Check says why a member does not tell its state.
func TestCheckSaysWhyAMemberIsSilent(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	f.refuse(false, status.Error(codes.PermissionDenied, "not for you"), "Maintenance/Status")
	if got := found(t, d, "does not tell its state"); !strings.Contains(got.Fact, "not for you") ||
		strings.Contains(got.Advice, "start it") {
		t.Errorf("of a member that refuses: %+v", got)
	}
	away := servers.FreeAddr(t)
	two := open(t, nil, server(t).Addr, away)
	if got := found(t, two, away); !strings.Contains(got.Fact, "does not answer") ||
		!strings.Contains(got.Advice, "start it") {
		t.Errorf("of a member that is away: %+v", got)
	}
}

// Check tells which known faults the version of a member has.
func TestCheckTellsKnownFaults(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	f.tellState(t, func(s *pb.StatusResponse) { s.Version = "3.5.12" })
	if got := found(t, d, "issues/15247"); got.Level != driver.Unsafe || !strings.Contains(got.Advice, "3.5.13") {
		t.Errorf("got %+v", got)
	}
	f.tellState(t, func(s *pb.StatusResponse) { s.Version = "3.5.27" })
	if got := found(t, d, "issues/20418"); got.Level != driver.Warning || !strings.Contains(got.Advice, "3.5.28") {
		t.Errorf("got %+v", got)
	}
}
