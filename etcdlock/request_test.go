package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The first attempt has put the claim, and the second finds it there when its time has come: it is in the queue
// still.
func TestLeavingClaimStaysKnown(t *testing.T) {
	t.Parallel()
	d := alone(t)
	ctx := context.Background()
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	if _, err := d.Request(ctx, c); err != nil {
		t.Fatal(err)
	}
	e := leavingTwin(d, d.claims.Known(c))
	for !e.IsLeaving() {
		runtime.Gosched() // its timer fires at once
	}
	if st, err := d.put(ctx, e, c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the answer is %+v, %v; want ErrGone", st, err)
	}
	if d.claims.Known(c) != e {
		t.Error("the claim is forgotten while it is in the queue")
	}
}

// alone is a driver with a server of its own.
func alone(t *testing.T) *Driver {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{servers.Etcd(t).Addr}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	d, err := New(client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A lease that was idle is given up while a request that wants it is on its way. Nothing is put on it any more: nobody
// would keep it alive, and nobody would know of the claim.
func TestRequestWhileItsLeaseIsGivenUp(t *testing.T) {
	t.Parallel()
	d := alone(t)
	ctx := context.Background()
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	l, err := d.leaseOf(ctx, c) // as create does
	if err != nil {
		t.Fatal(err)
	}
	l.lose()
	if st, err := d.put(ctx, d.enter(c, "", 0, l), c); !errors.Is(err, errLeaseLost) {
		t.Errorf("the answer is %+v, %v; want that the lease is lost", st, err)
	}
	if queue, err := d.Queue(ctx, "job"); err != nil || len(queue) > 0 {
		t.Errorf("the queue is %+v, %v; want none", queue, err)
	}
}

// A claim that has ended, or whose key another has now, since it was looked at is not moved to another lease.
func TestMoveOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	d := alone(t)
	ctx := context.Background()
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	if st, err := d.Request(ctx, c); err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	own, err := d.find(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	e := d.claims.Known(c)
	l, err := d.leaseOf(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	another := own
	another.token++
	another.mod++
	if done, err := d.attachOnce(ctx, e, &another, l, nil, c); done || !errors.Is(err, driver.ErrGone) {
		t.Errorf("under another token: %v, %v", done, err)
	}
	if err := d.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	if done, err := d.attachOnce(ctx, e, &own, l, nil, c); done || !errors.Is(err, driver.ErrGone) {
		t.Errorf("after its release: %v, %v", done, err)
	}
}

// leavingTwin puts a claim in the place of e whose first answer was lost, and whose time comes at once. It never
// leaves.
func leavingTwin(d *Driver, e *claim) *claim {
	d.claims.Forget(e)
	c := driver.Claim{Name: e.Name, ID: e.ID}
	twin, _ := d.claims.Enter(c, func() *claim {
		twin := &claim{
			d: d, queue: e.queue, key: e.key, tombstone: e.tombstone, lease: e.lease, alone: e.alone,
		}
		twin.Begin(c, 0, func() {}, nil)
		twin.Doubt()
		return twin
	})
	return twin
}

// Nothing stays of a lease that has ended, in a program that has ever other TTLs.
func TestLeasesThatEndedAreForgotten(t *testing.T) {
	t.Parallel()
	d := alone(t)
	c := hold(t, d, 1, 2*time.Second)[0]
	if err := d.Release(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	known := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.slots) + len(d.shelves)
	}
	for end := time.Now().Add(time.Minute); known() > 0; driver.Sleep(t.Context(), 20*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d leases are known that nobody uses", known())
		}
	}
}

// What is asked for one by one, such as what became of claims whose lease is gone, keeps no claim waiting whose renewal
// goes together with that of others.
func TestRenewalBesideClaimsThatAreGone(t *testing.T) {
	t.Parallel()
	d, far := farAway(t)
	const gone, held = 40, 10
	batch := append(hold(t, d, gone, 200*time.Second), hold(t, d, held, 300*time.Second)...)
	d.claims.Known(batch[0]).leased().lose()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	far.answersTogether(never, isAboutOne)
	ops := make([]driver.Op, len(batch))
	for i, c := range batch {
		ops[i] = driver.Op{Kind: driver.OpRequest, Claim: c, Brief: true}
	}
	renewed := 0
	d.Do(ctx, ops, func(i int, r driver.Result) {
		if i < gone {
			return
		}
		if r.Err != nil {
			t.Errorf("a claim that is held is not renewed: %v", r.Err)
		}
		if renewed++; renewed == held {
			cancel() // so that the others wait no longer
		}
	})
}

// Claims that move to another lease together do not wait for each other.
func TestRenewalOfManyThatMove(t *testing.T) {
	t.Parallel()
	d, far := farAway(t)
	batch := hold(t, d, 40, 200*time.Second)
	d.claims.Known(batch[0]).leased().deny()
	far.answersTogether(questionsAtOnce, isAboutOne)
	results, err := d.Renew(limitOf(t), batch)
	for i, r := range results {
		if err != nil || r.Err != nil {
			t.Fatalf("claim %d is not renewed: %v, %v", i, err, r.Err)
		}
	}
}

// A claim that was refused to move is not looked for where it was to go: that lease may live much longer.
func TestClaimThatMayNotMove(t *testing.T) {
	t.Parallel()
	d := alone(t)
	permits := forbidding(d)
	c := hold(t, d, 1, 200*time.Second)[0]
	e := d.claims.Known(c)
	before := e.leased()
	before.deny()
	permits.Store(false)
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
	if leases := e.leases(); len(leases) != 1 || leases[0] != before {
		t.Errorf("it may be on %d leases, want the one that it had", len(leases))
	}
}

// A claim that was left alone is not removed again and again for want of a right: its lease ends by itself.
func TestLeftAloneAndNotPermitted(t *testing.T) {
	t.Parallel()
	d := alone(t)
	c := driver.Claim{
		Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 2 * time.Second, Queue: true, Detached: true,
	}
	permits := forbidding(d)
	if _, err := d.Request(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	e := d.claims.Known(c)
	permits.Store(false)
	<-e.Over()
	for end := time.Now().Add(time.Minute); e.IsLeaving(); driver.Sleep(t.Context(), 20*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is still being removed")
		}
	}
}

// unpermitted is a server that permits nothing but to read, while it is told so.
type unpermitted struct {
	pb.KVClient
	permits *atomic.Bool
}

// forbidding puts one before the server of a driver that nobody uses yet.
func forbidding(d *Driver) (permits *atomic.Bool) {
	permits = new(atomic.Bool)
	permits.Store(true)
	d.members.current.kv = unpermitted{pb.NewKVClient(d.client.ActiveConnection()), permits}
	return permits
}

func (s unpermitted) Txn(ctx context.Context, r *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	if len(r.Compare) > 0 && !s.permits.Load() {
		return nil, rpctypes.ErrPermissionDenied
	}
	return s.KVClient.Txn(ctx, r, opts...)
}

// The questions for hundreds of claims do not wait for each other, either.
func TestRenewalOfManyFarAway(t *testing.T) {
	t.Parallel()
	d, far := farAway(t)
	batch := hold(t, d, 10*maxRenewals, 200*time.Second)
	far.answersTogether(10, func(*pb.TxnRequest) bool { return true })
	results, err := d.Renew(limitOf(t), batch)
	for i, r := range results {
		if err != nil || r.Err != nil {
			t.Fatalf("claim %d is not renewed: %v, %v", i, err, r.Err)
		}
	}
}

// What panics while several questions are under way does so for the caller, who may outlive it.
func TestPanicOfOneOfManyQuestions(t *testing.T) {
	defer func() {
		if caught := recover(); caught != "one" {
			t.Errorf("caught %v", caught)
		}
	}()
	each(2*questionsAtOnce, func(i int) {
		if i == questionsAtOnce+1 {
			panic("one")
		}
	})
	t.Error("it goes on")
}

// hold acquires so many locks.
func hold(t *testing.T, d *Driver, n int, ttl time.Duration) (held []driver.Claim) {
	t.Helper()
	for i := range n {
		c := driver.Claim{Name: fmt.Sprint(ttl, i), ID: "c1", Weight: 1, Limit: 1, TTL: ttl, Queue: true}
		st, err := d.Request(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Token = st.Token
		held = append(held, c)
	}
	return held
}

// farAway is a driver whose server answers at once until told otherwise.
func farAway(t *testing.T) (*Driver, *distant) {
	t.Helper()
	d := alone(t)
	far := &distant{KVClient: pb.NewKVClient(d.client.ActiveConnection())}
	d.members.current.kv = far
	return d, far
}

// A distant server does not answer until a number of requests have reached it.
type distant struct {
	pb.KVClient
	waits   func(*pb.TxnRequest) bool // the requests that this is about
	missing atomic.Int64              // those that have yet to come
	enough  chan struct{}
}

// answersTogether has the server answer none of these requests until n of them have come. Requests that are sent one
// after the other are never answered.
func (s *distant) answersTogether(n int, these func(*pb.TxnRequest) bool) {
	s.waits, s.enough = these, make(chan struct{})
	s.missing.Store(int64(n))
}

// never is how many requests never come.
const never = 0

// isAboutOne reports whether a request is about one claim, and not about a part of a batch.
func isAboutOne(r *pb.TxnRequest) bool { return len(r.Success) <= 3 }

func (s *distant) Txn(ctx context.Context, r *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	if s.waits != nil && s.waits(r) {
		if s.missing.Add(-1) == 0 {
			close(s.enough)
		}
		select {
		case <-s.enough:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.KVClient.Txn(ctx, r, opts...)
}

// limitOf returns a context that ends what hangs.
func limitOf(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// More than a server takes, or than may be sent to one at all, is refused: to ask again would not help.
func TestClaimThatIsTooLarge(t *testing.T) {
	t.Parallel()
	d := alone(t)
	for _, size := range []int{1_800_000, 3_000_000} {
		ctx := limitOf(t)
		c := driver.Claim{Name: "job", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
		c.Value = strings.Repeat("x", size)
		if st, err := d.Request(ctx, c); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%d bytes: %+v, %v; want ErrRefused", size, st, err)
		}
	}
}
