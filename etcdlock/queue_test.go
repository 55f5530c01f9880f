package etcdlock_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The end of one claim makes way for two. The second, which fits beside the first of them only, learns that from it.
func TestTurnOfTwo(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	holder, first, second := open(t, nil, addr), open(t, nil, addr), open(t, nil, addr)
	held := acquire(t, holder, units("pool", 2, 3))
	a := enqueue(t, first, units("pool", 2, 3))
	b := enqueue(t, second, units("pool", 1, 3))
	ctx, cancel := context.WithTimeout(t.Context(), long*3/4) // nothing is renewed
	defer cancel()
	got := make(chan error, 2)
	go func() { got <- granted(ctx, first, a) }()  // ends with ctx
	go func() { got <- granted(ctx, second, b) }() // likewise
	until(t, "both watch", func() bool { return watchers(t, addr) == 4 })
	release(t, holder, held)
	for range 2 {
		if err := <-got; err != nil {
			t.Errorf("waiting without a renewal: %v", err)
		}
	}
}

// A permit that would not wait has an answer, however often others come and go between two of its questions, and leaves
// nothing where that is no.
func TestTryAmongOthers(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	other := open(t, nil, addr)
	const enough = 50 // questions
	for _, full := range []bool{false, true} {
		name := fmt.Sprint("full-", full)
		ctx, cancel := context.WithCancel(limit(t))
		defer cancel()
		asked, last := 0, acquire(t, other, units(name, 1, 3))
		come := func() {
			next := units(name, 1, 3)
			switch asked++; {
			case asked == 5 && full: // not before, so that it would fit
				next.Weight = 2
			case asked > 5 && full:
				return
			case asked > enough:
				cancel()
			}
			next = acquire(t, other, next)
			release(t, other, last)
			last = next
		}
		d := open(t, nil, addr)
		d.AskThrough(func(kv pb.KVClient) pb.KVClient { return crowded{kv, come} })
		c := units(name, 2, 3)
		c.Queue = false
		if st, err := d.Request(ctx, c); err != nil || st.Granted == full {
			t.Errorf("%s: after %d questions: %+v, %v", name, asked, st, err)
		}
		queue, err := other.Queue(limit(t), name)
		ours := func(e driver.Entry) bool { return e.ID == c.ID }
		if err != nil || slices.ContainsFunc(queue, ours) == full {
			t.Errorf("%s: the queue is %+v, %v", name, queue, err)
		}
	}
}

// crowded is a server to which others come before each question.
type crowded struct {
	pb.KVClient
	come func()
}

func (c crowded) Txn(ctx context.Context, r *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	c.come()
	return c.KVClient.Txn(ctx, r, opts...)
}

func (c crowded) Range(ctx context.Context, r *pb.RangeRequest, opts ...grpc.CallOption) (*pb.RangeResponse, error) {
	c.come()
	return c.KVClient.Range(ctx, r, opts...)
}

// However many readers hold a lock, the next one reads few of them, because some note what those before them add up to.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := open(t, nil, addr)
	const readers = 150
	for range readers {
		acquire(t, d, units("doc", 1, driver.All))
	}
	all, err := dial(t, addr).Get(limit(t), "/holdfast/doc/", clientv3.WithPrefix())
	if err != nil || len(all.Kvs) != readers {
		t.Fatalf("%d keys, %v", len(all.Kvs), err)
	}
	if marked := countMarked(all.Kvs); marked < readers/40 || marked > readers/8 {
		t.Errorf("%d of %d readers note what those before them add up to, want about every sixteenth", marked, readers)
	}
	enqueue(t, d, units("doc", driver.All, driver.All))
	enqueue(t, d, units("doc", 1, driver.All))
}

func countMarked(kvs []*mvccpb.KeyValue) (n int) {
	for _, kv := range kvs {
		var sum, limit int64
		if at := strings.Index(string(kv.Value), `"fits":`); at >= 0 {
			_, err := fmt.Sscanf(string(kv.Value)[at:], `"fits":{"sum":%d,"limit":%d}`, &sum, &limit)
			if err == nil && sum > 0 {
				n++
			}
		}
	}
	return n
}
