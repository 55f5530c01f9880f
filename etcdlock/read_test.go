package etcdlock

import (
	"context"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// watching returns a claim whose own key is watched since this revision.
func watching(since int64) *claim {
	e := &claim{lease: &lease{lost: make(chan struct{})}, self: &watcher{since: since}}
	e.Begin(driver.Claim{}, time.Hour, func() {}, nil)
	return e
}

// A renewal reads that the claim waits for P. P ends, and a look finds that it waits for Q. Then the renewal is
// noted.
func TestOlderReadingIsNotedLater(t *testing.T) {
	e := watching(5)
	e.note(view{revision: 12, behind: true}, leased.Verdict{Watch: "Q"})
	<-e.News()
	st := e.note(view{revision: 10}, leased.Verdict{Watch: "P"})
	if key, _ := e.blocker(); key != "Q" {
		t.Errorf("the claim waits for %s, which has ended; want Q", key)
	}
	if len(e.News()) > 0 || !st.Contended {
		t.Errorf("an older reading is told as news, or in the answer: %+v", st)
	}
	if st := e.note(view{revision: 11}, leased.Verdict{Granted: true}); !st.Granted {
		t.Error("a grant was read, and is not noted since the reading is older")
	}
}

// The claim hears that Q has ended, but cannot look. Then a renewal is noted that has read before the end.
func TestLookIsDueAfterAnOlderReading(t *testing.T) {
	e := watching(5)
	e.d = unanswering(t)
	e.ahead = &watcher{key: "Q", since: 12}
	e.note(view{revision: 12}, leased.Verdict{Watch: "Q", Sure: true})
	if err := e.lookAgain(context.Background()); err == nil {
		t.Fatal("the look is answered")
	}
	e.note(view{revision: 19}, leased.Verdict{Watch: "Q", Sure: true})
	if !e.unread() {
		t.Error("the look that failed is no longer due")
	}
}

// The claim waits for P, behind Q. A renewal that was sent when P had ended finds Q alone ahead; then the claim
// hears of P.
func TestEndOfAnotherGrantsNothing(t *testing.T) {
	e := watching(5)
	e.d = unanswering(t)
	e.self.since, e.ahead = 5, &watcher{key: "P", since: 6}
	e.note(view{revision: 12}, leased.Verdict{Watch: "Q", Sure: true})
	gone := []*clientv3.Event{{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: []byte("P")}}}
	err := e.newsAhead(context.Background(), clientv3.WatchResponse{Events: gone}, true)
	if e.IsGranted() || err == nil {
		t.Errorf("the end of P answers %+v, %v; Q has the lock, and nobody has looked", e.Status(), err)
	}
}

// unanswering returns a driver whose server does not answer.
func unanswering(t *testing.T) *Driver {
	_, ms := membersAt(t, "127.0.0.1:1")
	ms.current.kv = unanswered{}
	return &Driver{members: ms, lifetime: t.Context()}
}

// unanswered is a server that does not answer transactions.
type unanswered struct{ pb.KVClient }

func (unanswered) Txn(context.Context, *pb.TxnRequest, ...grpc.CallOption) (*pb.TxnResponse, error) {
	return nil, context.DeadlineExceeded
}
