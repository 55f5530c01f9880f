package etcdlock_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A counter counts the calls of clients, without keep-alives, which depend on time alone; the messages over a stream of
// watches, and among them the watches from a revision in the past; and how many keys the server looked at to answer.
type counter struct{ calls, watches, past, keys atomic.Int64 }

// unary counts a call.
func (n *counter) unary(
	ctx context.Context, method string, req, reply any,
	cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	n.calls.Add(1)
	err := call(ctx, method, req, reply, cc, opts...)
	n.keys.Add(keysIn(reply))
	return err
}

// keysIn returns how many keys are in the ranges that were read, of which an answer may have only the first.
func keysIn(reply any) (keys int64) {
	switch r := reply.(type) {
	case *pb.RangeResponse:
		return r.GetCount()
	case *pb.TxnResponse:
		for _, op := range r.GetResponses() {
			keys += keysIn(op.GetResponseRange()) + keysIn(op.GetResponseTxn())
		}
	}
	return keys
}

// stream counts what comes over a stream of watches.
func (n *counter) stream(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn,
	method string, open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, cc, method, opts...)
	if method != "/etcdserverpb.Watch/Watch" || err != nil {
		return s, err
	}
	return counted{s, n}, nil
}

func (n *counter) client(t *testing.T, addr string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(n.unary),
			grpc.WithChainStreamInterceptor(n.stream),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// counted is a watch stream.
type counted struct {
	grpc.ClientStream
	counter *counter
}

func (s counted) SendMsg(m any) error {
	s.counter.watches.Add(1)
	if r, ok := m.(*pb.WatchRequest); ok && r.GetCreateRequest().GetStartRevision() > 0 {
		s.counter.past.Add(1)
	}
	return s.ClientStream.SendMsg(m)
}

func on(t *testing.T, client *clientv3.Client) *etcdlock.Driver {
	t.Helper()
	d, err := etcdlock.New(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	leasedtest.CloseLater(t, d)
	return d
}

func TestUncontendedCalls(t *testing.T) {
	var n counter
	d := on(t, n.client(t, server(t).Addr))
	release(t, d, acquire(t, d, claim("warm up", long)))
	for name, c := range map[string]driver.Claim{
		"mutex": claim("m", long), "reader": units("r", 1, driver.All), "semaphore": units("s", 1, 3),
	} {
		for _, queue := range []bool{true, false} {
			c.Queue, c.ID = queue, fmt.Sprint(c.ID, queue)
			before := n.calls.Load()
			release(t, d, acquire(t, d, c))
			if got := n.calls.Load() - before; got != 2 {
				t.Errorf("%s, queue %v: %d calls for an acquisition and its release, want 2", name, queue, got)
			}
		}
	}
	if got := n.watches.Load(); got > 0 {
		t.Errorf("%d watches without a waiter", got)
	}
}

// However many wait, a hand-off takes as many calls: the release, and one look of the next in line. No watch is from a
// revision in the past, as those of etcd's own mutex are: the server attends to such watches ten times a second.
func TestCallsForEachHandOff(t *testing.T) {
	addr := server(t).Addr
	for _, waiters := range []int{1, 4, 16, 64, 256} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			var n counter
			calls, watches := handOffs(t, &n, addr, waiters)
			if past := n.past.Load(); past > 0 {
				t.Errorf("%d watches are from a revision in the past", past)
			}
			t.Logf("%.2f calls and %.2f watch messages for each hand-off", calls, watches)
			if calls > 2 {
				t.Errorf("%.2f calls for each hand-off, want at most 2", calls)
			}
			// The end of the watches on oneself and on the predecessor, and the chance of one made anew.
			if watches > 3 {
				t.Errorf("%.2f watch messages for each hand-off", watches)
			}
		})
	}
}

// handOffs lets a lock go through a queue, and returns the calls for each hand-off.
func handOffs(t *testing.T, n *counter, addr string, waiters int) (calls, watches float64) {
	client := n.client(t, addr)
	holder := on(t, client)
	name := fmt.Sprint("queue of ", waiters)
	held := acquire(t, holder, claim(name, long))
	drivers, claims := make([]*etcdlock.Driver, waiters), make([]driver.Claim, waiters)
	for i := range waiters {
		drivers[i] = on(t, client)
		claims[i] = enqueue(t, drivers[i], claim(name, long))
	}
	done := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(waiters))
	for i := range waiters {
		go func() { // ends when it was granted
			mustBeGranted(t, drivers[i], claims[i])
			release(t, drivers[i], claims[i])
			if left.Add(-1) == 0 {
				close(done)
			}
		}()
	}
	until(t, "each watches itself and what it waits for", func() bool { return watchers(t, addr) >= 2*waiters })
	settled(t, n)
	n.calls.Store(0)
	n.watches.Store(0)
	release(t, holder, held)
	<-done
	return float64(n.calls.Load()) / float64(waiters), float64(n.watches.Load()) / float64(waiters)
}

// settled waits until no calls are made any more.
func settled(t *testing.T, n *counter) {
	t.Helper()
	last, quiet := int64(-1), 0
	until(t, "the waiters only wait", func() bool {
		now := n.calls.Load() + n.watches.Load()
		if now != last {
			last, quiet = now, 0
		}
		quiet++
		return quiet > 40
	})
}

// far is a driver behind a line on which a round trip takes this long.
func far(t testing.TB, addr string, roundTrip time.Duration) *etcdlock.Driver {
	p := proxy.New(t, addr)
	d := open(t, nil, p.Addr)
	release(t, d, acquire(t, d, claim("warm up", long)))
	p.Delay(roundTrip / 2)
	return d
}

func TestOneRoundTrip(t *testing.T) {
	addr := server(t).Addr
	pace.Run(t, "far", func(t *pace.T) { oneRoundTrip(t, addr, t.Scaled(10*time.Millisecond)) })
}

func oneRoundTrip(t *pace.T, addr string, roundTrip time.Duration) {
	t.Margin(roundTrip / 2)
	d := far(t, addr, roundTrip)
	quickest := time.Hour
	for range 10 {
		c := claim("job", long)
		start := time.Now()
		c = acquire(t, d, c)
		quickest = min(quickest, time.Since(start))
		release(t, d, c)
	}
	t.Logf("acquiring takes %v", quickest)
	if quickest >= 2*roundTrip {
		t.Errorf("acquiring takes %v, which is more than one round trip of %v", quickest, roundTrip)
	}
}

func TestOneMessageAfterTheRelease(t *testing.T) {
	addr := server(t).Addr
	pace.Run(t, "far", func(t *pace.T) { oneMessageAfterTheRelease(t, addr, t.Scaled(20*time.Millisecond)) })
}

func oneMessageAfterTheRelease(t *pace.T, addr string, roundTrip time.Duration) {
	t.Margin(roundTrip / 4)
	holder, waiter := open(t, nil, addr), far(t, addr, roundTrip)
	quickest := time.Hour
	for range 10 {
		held := acquire(t, holder, claim("job", long))
		waiting := enqueue(t, waiter, claim("job", long))
		got := make(chan time.Time, 1)
		go func() { // ends when it is granted
			mustBeGranted(t, waiter, waiting)
			got <- time.Now()
		}()
		driver.Sleep(t.Context(), 5*roundTrip) // the waiter's watches are there
		release(t, holder, held)
		released := time.Now()
		quickest = min(quickest, (<-got).Sub(released))
		release(t, waiter, waiting)
	}
	t.Logf("the waiter runs %v after the release", quickest)
	if quickest >= roundTrip {
		t.Errorf("the waiter runs %v after the release: a question after the message takes %v more",
			quickest, roundTrip)
	}
}
