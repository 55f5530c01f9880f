package etcdlock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A late client is a driver of whose changes one can be held up.
type late struct {
	*etcdlock.Driver
	next  atomic.Pointer[transaction] // what becomes of the next transaction; nil when it is sent as ever
	stuck atomic.Int64                // what extends this lease is lost on its way
}

// A transaction stands in for one: it is given what sends it.
type transaction func(ctx context.Context, send func(context.Context) error) error

func newLate(t *testing.T, addr string) *late {
	t.Helper()
	l := &late{}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(l.intercept), grpc.WithChainStreamInterceptor(l.interceptStream),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if l.Driver, err = etcdlock.New(client, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (l *late) intercept(
	ctx context.Context, method string, req, reply any,
	cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	send := func(ctx context.Context) error { return invoke(ctx, method, req, reply, cc, opts...) }
	if method == "/etcdserverpb.KV/Txn" || method == "/etcdserverpb.KV/DeleteRange" {
		if do := l.next.Swap(nil); do != nil {
			return (*do)(ctx, send)
		}
	}
	return send(ctx)
}

func (l *late) interceptStream(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, begin grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	s, err := begin(ctx, desc, cc, method, opts...)
	return &lossyStream{s, l}, err
}

// A lossyStream loses what extends the lease that is stuck.
type lossyStream struct {
	grpc.ClientStream
	late *late
}

func (s *lossyStream) SendMsg(m any) error {
	if r, ok := m.(*pb.LeaseKeepAliveRequest); ok && r.ID == s.late.stuck.Load() {
		return nil
	}
	return s.ClientStream.SendMsg(m)
}

// answerLate holds back the answer to the next transaction until the returned channel is closed.
func (l *late) answerLate() (deliver chan struct{}) {
	deliver = make(chan struct{})
	do := transaction(func(ctx context.Context, send func(context.Context) error) error {
		err := send(ctx)
		<-deliver
		return err
	})
	l.next.Store(&do)
	return deliver
}

// arriveLate lets the next transaction fail before it reaches the server, which it does when arrive is called.
func (l *late) arriveLate() (arrive func()) {
	sends := make(chan func(context.Context) error, 1)
	do := transaction(func(_ context.Context, send func(context.Context) error) error {
		sends <- send
		return context.DeadlineExceeded
	})
	l.next.Store(&do)
	return func() {
		select {
		case send := <-sends:
			send(context.Background()) // whatever becomes of it, the queue tells
		default:
		}
	}
}

// loseAnswer loses the answer to the next transaction.
func (l *late) loseAnswer() {
	do := transaction(func(ctx context.Context, send func(context.Context) error) error {
		return errors.Join(send(ctx), context.DeadlineExceeded)
	})
	l.next.Store(&do)
}

// loseMove loses the answer to the transaction after the next one, by which a renewal moves a claim that it has
// looked at.
func (l *late) loseMove() {
	looks := transaction(func(ctx context.Context, send func(context.Context) error) error {
		l.loseAnswer()
		return send(ctx)
	})
	l.next.Store(&looks)
}

// The first attempt arrives after the second was told that the lock is taken, and when it is free.
func TestTryArrivesLate(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other := newLate(t, addr), open(t, nil, addr)
	held := acquire(t, other, claim("job", long))
	c := claim("job", long)
	c.Queue = false
	arrive := d.arriveLate()
	if st, err := d.Request(limit(t), c); err == nil {
		t.Fatalf("the first attempt was answered: %+v", st)
	}
	if _, st := request(t, d, c); st != (driver.Status{}) {
		t.Fatalf("the second attempt answers %+v, want that the lock is taken", st)
	}
	release(t, other, held)
	arrive()
	if queue, err := other.Queue(limit(t), "job"); err != nil || len(queue) > 0 {
		t.Errorf("the queue is %+v, %v; want none: nobody knows of this claim", queue, err)
	}
}

// A claim that would not wait, or was refused, is taken out of the queue by a step that may arrive late. No later
// request with its ID is granted the lock: that step would take it away from its holder.
func TestLeftOutLate(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for name, leaveOut := range map[string]func(*testing.T, *late, *etcdlock.Driver, driver.Claim) (arrive func()){
		"would not wait": func(t *testing.T, d *late, other *etcdlock.Driver, c driver.Claim) (arrive func()) {
			held := acquire(t, other, claim(c.Name, long))
			d.arriveLate() // never
			if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the first attempt was answered: %+v, %v", st, err)
			}
			tries := transaction(func(ctx context.Context, send func(context.Context) error) error {
				arrive = d.arriveLate()
				return send(ctx)
			})
			d.next.Store(&tries)
			if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the second attempt was answered: %+v, %v", st, err)
			}
			release(t, other, held)
			return arrive
		},
		"waits no longer": func(t *testing.T, d *late, other *etcdlock.Driver, c driver.Claim) (arrive func()) {
			held := acquire(t, other, claim(c.Name, long))
			c.Queue = true
			c = enqueue(t, d, c)
			c.Queue = false
			looks := transaction(func(ctx context.Context, send func(context.Context) error) error {
				arrive = d.arriveLate()
				return send(ctx)
			})
			d.next.Store(&looks)
			if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the claim is said to be out of the queue: %+v, %v", st, err)
			}
			release(t, other, held)
			if results, err := d.Renew(limit(t), []driver.Claim{c}); err != nil || results[0].Status.Granted {
				t.Errorf("a renewal answers %+v, %v", results, err)
			}
			return arrive
		},
		"was refused": func(t *testing.T, d *late, _ *etcdlock.Driver, c driver.Claim) (arrive func()) {
			c.Queue = true
			refused := transaction(func(ctx context.Context, send func(context.Context) error) error {
				arrive = d.arriveLate()
				if err := send(ctx); err != nil {
					return err
				}
				return rpctypes.ErrGRPCNoSpace
			})
			d.next.Store(&refused)
			if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the claim is said to be out of the queue: %+v, %v", st, err)
			}
			return arrive
		},
	} {
		d, other, c := newLate(t, addr), open(t, nil, addr), claim(name, long)
		c.Queue = false
		arrive := leaveOut(t, d, other, c)
		for _, c.Queue = range []bool{false, true} {
			st, err := d.Request(limit(t), c)
			if st.Granted {
				t.Errorf("%s: it is granted, %+v, while a step that takes it out of the queue may still come", name, st)
			} else if err != nil && !errors.Is(err, driver.ErrGone) {
				t.Errorf("%s: the next request answers %v", name, err)
			}
		}
		held := acquire(t, other, claim(name, long))
		arrive()
		acquire(t, other, held)
	}
}

// When the answer comes, the claim has left the queue, because its time has come, and the next has the lock.
func TestAnswerAfterTheEnd(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for name, prepare := range map[string]func(d *late, c driver.Claim) driver.Claim{
		"request": func(_ *late, c driver.Claim) driver.Claim { return c },
		"try":     func(_ *late, c driver.Claim) driver.Claim { c.Queue = false; return c },
		"renewal": func(d *late, c driver.Claim) driver.Claim { return acquire(t, d, c) },
	} {
		d, other := newLate(t, addr), open(t, nil, addr)
		c := prepare(d, claim(name, short))
		deliver := d.answerLate()
		answer := make(chan error, 1)
		go func() { // ends when the answer is delivered
			_, err := d.Request(limit(t), c)
			answer <- err
		}()
		until(t, "the claim is queued", func() bool {
			queue, err := other.Queue(limit(t), name)
			return err == nil && len(queue) == 1
		})
		leasedtest.Take(t, other, claim(name, long))
		close(deliver)
		if err := <-answer; !errors.Is(err, driver.ErrGone) {
			t.Errorf("%s: the answer is %v, want ErrGone: the next holds the lock", name, err)
		}
	}
}

// A copy of the first request that comes when the lease of the note would have ended finds the claim gone: a release
// has extended that lease, or taken another one.
func TestCopyAfterALeaseThatIsNotExtended(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := newLate(t, addr), dial(t, addr)
	const ttl = 5 * time.Second
	keepRenewing(t, d, acquire(t, d, claim("beside", ttl))) // so that its lease lives on
	release(t, d, acquire(t, d, claim("before", ttl)))
	arrive := d.arriveLate()
	c := claim("job", ttl)
	if _, err := d.Request(limit(t), c); err == nil {
		t.Fatal("the first attempt was answered")
	}
	c = acquire(t, d, c)
	stuck := noteLease(t, client, "before")
	d.stuck.Store(int64(stuck))
	until(t, "the lease of notes is about to end", func() bool {
		request(t, d, c)
		left, err := client.TimeToLive(limit(t), stuck)
		if err != nil {
			t.Fatal(err)
		}
		return left.TTL <= 1
	})
	var released time.Time
	until(t, "the claim is released", func() bool {
		d.Request(limit(t), c) // so that it does not expire
		released = time.Now()
		err := d.Release(limit(t), c)
		return err == nil || errors.Is(err, driver.ErrGone)
	})
	until(t, "the note is gone, or has stayed for the TTL", func() bool {
		return noteLease(t, client, "job") == clientv3.NoLease || time.Since(released) > ttl-time.Second
	})
	arrive()
	queue, err := d.Queue(limit(t), "job")
	if time.Since(released) < ttl && (err != nil || len(queue) > 0) {
		t.Errorf("the queue is %+v, %v; want none: nobody knows of this claim", queue, err)
	}
}

// Where the extension of one lease is not answered, claims on another one are renewed together with those on it.
func TestRenewalBesideALeaseThatIsNotExtended(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := newLate(t, addr), dial(t, addr)
	batch := []driver.Claim{acquire(t, d, claim("stuck", long))}
	for i := range 20 {
		batch = append(batch, acquire(t, d, claim(fmt.Sprint("job-", i), 2*long)))
	}
	d.stuck.Store(int64(leaseOf(t, client, "stuck")))
	unanswered := 0
	until(t, "the others are renewed where the first is not", func() bool {
		ctx, cancel := context.WithTimeout(limit(t), time.Second)
		defer cancel()
		results, err := d.Renew(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		renewed := 0
		for i, r := range results[1:] {
			if r.Err == nil {
				renewed++
			} else if driver.IsAnswer(r.Err) {
				t.Fatalf("claim %d: %v", i, r.Err)
			}
		}
		if results[0].Err != nil && renewed == len(results)-1 {
			unanswered++
		}
		return unanswered == 3
	})
}

// noteLease is the lease of the note of a lock's claim that has ended, if there is one.
func noteLease(t *testing.T, client *clientv3.Client, name string) clientv3.LeaseID {
	t.Helper()
	answer, err := client.Get(limit(t), "/holdfast/.ended/"+name+"/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Kvs) == 0 {
		return clientv3.NoLease
	}
	return clientv3.LeaseID(answer.Kvs[0].Lease)
}

// A claim whose renewal moved it to another lease is not left there when the answer comes after its end.
func TestAnswerToAnotherTTLAfterTheEnd(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other := newLate(t, addr), open(t, nil, addr)
	const longer = 3 * short
	keepRenewing(t, d, acquire(t, d, claim("beside", longer))) // so that the lease for that TTL lives on
	c := acquire(t, d, claim("job", short))
	deliver := make(chan struct{})
	moves := transaction(func(ctx context.Context, send func(context.Context) error) error {
		err := send(ctx)
		<-deliver
		return err
	})
	looks := transaction(func(ctx context.Context, send func(context.Context) error) error {
		d.next.Store(&moves)
		return send(ctx)
	})
	d.next.Store(&looks)
	c.TTL = longer
	answer := make(chan error, 1)
	go func() { // ends when the answer is delivered
		_, err := d.Request(limit(t), c)
		answer <- err
	}()
	driver.Sleep(t.Context(), longer+2*short) // its time has come
	close(deliver)
	if err := <-answer; !errors.Is(err, driver.ErrGone) {
		t.Fatalf("the answer that came after the end is %v", err)
	}
	until(t, "the claim has left the queue", func() bool {
		queue, err := other.Queue(limit(t), "job")
		return err == nil && len(queue) == 0
	})
}

// A claim may have moved to another lease, by a request whose answer is lost, when the one that it was on ends. It
// does not stay there when nobody renews it.
func TestMoveWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := newLate(t, addr), open(t, nil, addr), dial(t, addr)
	const longer = 3 * short
	keepRenewing(t, d, acquire(t, d, claim("beside", longer))) // so that the lease for that TTL lives on
	c := acquire(t, d, claim("job", short))
	before := leaseOf(t, client, "job")
	d.loseMove()
	c.TTL = longer
	if st, err := d.Request(limit(t), c); driver.IsAnswer(err) || leaseOf(t, client, "job") == before {
		t.Fatalf("the claim was to move without an answer: %+v, %v", st, err)
	}
	if _, err := client.Revoke(limit(t), before); err != nil {
		t.Fatal(err)
	}
	leaves(t, other)
}

// The request that moves a claim may also arrive while the claim is removed, between looks at two of the leases
// that it may be on.
func TestMoveThatArrivesDuringTheRemoval(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := newLate(t, addr), open(t, nil, addr), dial(t, addr)
	const longer = 3 * short
	before := acquire(t, d, claim("before", longer))
	if _, err := client.KeepAlive(limit(t), leaseOf(t, client, "before")); err != nil { // without transactions of d
		t.Fatal(err)
	}
	release(t, d, before)
	c := acquire(t, d, claim("job", short))
	var arrive func()
	looks := transaction(func(ctx context.Context, send func(context.Context) error) error {
		arrive = d.arriveLate()
		return send(ctx)
	})
	d.next.Store(&looks)
	c.TTL = longer
	if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
		t.Fatalf("the claim was to move without an answer: %+v, %v", st, err)
	}
	removed := make(chan struct{})
	removes := transaction(func(ctx context.Context, send func(context.Context) error) error {
		defer close(removed)
		err := send(ctx)
		arrive()
		return err
	})
	d.next.Store(&removes)
	<-removed
	leaves(t, other)
}

// A renewal moves a claim from another client's lease to this one's, and is not answered. The claim then lives for
// as long as that request asked for: by what this client was answered before it would end sooner, though another
// client's answer has promised more.
func TestMoveKeepsAnotherClientsPromise(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for name, detached := range map[string]bool{"held": false, "detached": true} {
		pace.Run(t, name, func(t *pace.T) {
			d, other := newLate(t.T, addr), open(t, nil, addr)
			ttl := t.TTL(4 * time.Second)
			c := acquire(t, d, claim("job "+rand.Text(), ttl))
			c.Detached = detached
			acquire(t, d, c)
			driver.Sleep(t.Context(), ttl/2)
			promised := time.Now().Add(ttl)
			acquire(t, other, c)
			driver.Sleep(t.Context(), ttl/4)
			d.loseMove()
			if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the claim was to move without an answer: %+v, %v", st, err)
			}
			staysUntil(t, other, c, promised)
		})
	}
}

// A request that would move a claim to another client's lease arrives after a renewal was answered. It does not make
// the claim end before the time of that answer.
func TestMoveThatArrivesAfterARenewal(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	pace.Run(t, "in time", func(t *pace.T) {
		d, other := newLate(t.T, addr), open(t, nil, addr)
		ttl := t.TTL(4 * time.Second)
		c := acquire(t, other, claim("job "+rand.Text(), ttl))
		c.Detached = true
		acquire(t, other, c)
		var arrive func()
		looks := transaction(func(ctx context.Context, send func(context.Context) error) error {
			arrive = d.arriveLate()
			return send(ctx)
		})
		d.next.Store(&looks)
		if st, err := d.Request(limit(t), c); driver.IsAnswer(err) {
			t.Fatalf("the claim was to move without an answer: %+v, %v", st, err)
		}
		driver.Sleep(t.Context(), ttl/2)
		promised := time.Now().Add(ttl)
		acquire(t, other, c)
		arrive()
		staysUntil(t, other, c, promised)
	})
}

// staysUntil fails if a claim leaves the queue before this time.
func staysUntil(t *pace.T, d claimed.Driver, c driver.Claim, promised time.Time) {
	t.Helper()
	for time.Now().Before(promised) {
		queue, err := d.Queue(limit(t), c.Name)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(promised); len(queue) == 0 && left > 0 {
			t.Fatalf("the claim has left the queue %v before the time that was promised", left)
		}
	}
}

// A claim is not moved to a lease that does not live for as long as the claim is to: another client's answer has
// promised as much.
func TestMoveToALeaseThatIsNotExtended(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := newLate(t, addr), open(t, nil, addr), dial(t, addr)
	c := acquire(t, d, claim("job", long))
	c.Detached = true
	acquire(t, d, c)
	d.stuck.Store(int64(leaseOf(t, client, "job")))
	acquire(t, other, c)
	promised := leaseOf(t, client, "job")
	ctx, cancel := context.WithTimeout(limit(t), time.Second)
	defer cancel()
	if st, err := d.Request(ctx, c); driver.IsAnswer(err) {
		t.Errorf("the lease of the claim was not extended, and yet: %+v, %v", st, err)
	}
	if leaseOf(t, client, "job") != promised {
		t.Error("the claim was moved to the lease that is not extended")
	}
	d.stuck.Store(0)
	acquire(t, d, c)
	if leaseOf(t, client, "job") == promised {
		t.Error("the claim was not moved once the lease was extended")
	}
}

// leaves fails unless the claim on job leaves the queue, before the lease ends on which it may stay.
func leaves(t *testing.T, d claimed.Driver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(limit(t), time.Minute)
	defer cancel()
	for queue := []driver.Entry{{}}; len(queue) > 0; driver.Sleep(ctx, 20*time.Millisecond) {
		var err error
		if queue, err = d.Queue(limit(t), "job"); err != nil {
			t.Fatal(err)
		}
		if ctx.Err() != nil {
			t.Fatal("nobody renews the claim, and it is still in the queue")
		}
	}
}

// leaseOf is the lease of the only claim on a lock.
func leaseOf(t *testing.T, client *clientv3.Client, name string) clientv3.LeaseID {
	t.Helper()
	answer, err := client.Get(limit(t), "/holdfast/"+name+"/", clientv3.WithPrefix())
	if err != nil || len(answer.Kvs) != 1 {
		t.Fatalf("%+v, %v; want one claim on %s", answer, err, name)
	}
	return clientv3.LeaseID(answer.Kvs[0].Lease)
}

// A claim whose TTL becomes shorter needs two leases, of which one turns out to be gone. The claims on the other one
// wait on.
func TestMoveWhereTheLeaseOfTheNoteIsGone(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := open(t, nil, addr), open(t, nil, addr), dial(t, addr)
	const longer = 2 * long
	acquire(t, other, claim("busy", longer))
	ctx, cancel := context.WithCancel(limit(t))
	defer cancel()
	told := inBackground(ctx, d, enqueue(t, d, claim("busy", long)))
	until(t, "it waits", func() bool { return watchers(t, addr) == 2 })
	release(t, d, acquire(t, other, claim("before", longer)))
	c := acquire(t, d, claim("job", longer))
	if _, err := client.Revoke(limit(t), noteLease(t, client, "before")); err != nil {
		t.Fatal(err)
	}
	c.TTL = long
	if err := renewed(limit(t), d, c); err != nil {
		t.Fatal(err)
	}
	select {
	case answer := <-told:
		t.Errorf("a claim that waits is told %+v", answer)
	case <-time.After(short):
	}
}

// A call that is under way when the driver is closed says so, also where there is one server alone.
func TestCloseDuringACall(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, server(t).Addr)
	d := mustOpen(t, "etcd://"+p.Addr)
	p.Count(proxy.Bytes)
	p.BlackHole()
	failed := make(chan error, 1)
	go func() {
		_, err := d.Request(limit(t), claim("job", long))
		failed <- err
	}()
	until(t, "the request is sent", func() bool { return p.Counted() > 0 })
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
