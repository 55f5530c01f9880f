package redislock

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// sendAll does a batch, and fails unless each operation has one result.
func sendAll(t testing.TB, ctx context.Context, d *QueueDriver, batch ...driver.Op) []driver.Result {
	t.Helper()
	results, told := make([]driver.Result, len(batch)), make([]int, len(batch))
	var mu sync.Mutex
	d.native.Do(ctx, batch, func(i int, r driver.Result) {
		mu.Lock()
		defer mu.Unlock()
		results[i] = r
		told[i]++
	})
	for i, n := range told {
		if n != 1 {
			t.Errorf("the result of %v %d came %d times", batch[i].Kind, i, n)
		}
	}
	return results
}

// requests are operations that queue claims on so many locks.
func requests(n int) []driver.Op {
	batch := make([]driver.Op, n)
	for i := range batch {
		c := mutex("lock "+strconv.Itoa(i), driver.NextID(""))
		c.Queue = false
		batch[i] = driver.Op{Kind: driver.OpRequest, Claim: c}
	}
	return batch
}

// areGranted fails unless all requests are, and returns the operations that release them.
func areGranted(t testing.TB, batch []driver.Op, results []driver.Result) []driver.Op {
	t.Helper()
	releases := make([]driver.Op, len(batch))
	for i, r := range results {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("%s: %+v, %v", batch[i].Claim.Name, r.Status, r.Err)
		}
		c := batch[i].Claim
		c.Token = r.Status.Token
		releases[i] = driver.Op{Kind: driver.OpRelease, Claim: c}
	}
	return releases
}

func succeed(t testing.TB, results []driver.Result) {
	t.Helper()
	for i, r := range results {
		if r.Err != nil {
			t.Errorf("operation %d: %v", i, r.Err)
		}
	}
}

// scriptsRun is how many scripts a server has run since it was asked to forget that.
func scriptsRun(t testing.TB, srv *servers.Server) int {
	t.Helper()
	all := 0
	stats := srv.RedisCommand(t, "INFO", "commandstats")
	for _, found := range regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`).FindAllStringSubmatch(stats, -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	return all
}

// proven opens a driver that knows that one server has all keys.
func proven(t *testing.T, addr string) *QueueDriver {
	t.Helper()
	d := openNative(t, addr)
	d.server.learn(true, time.Hour)
	return d
}

// A large batch takes a script for each 24 operations, and each operation has its own answer, also where the server
// has forgotten the scripts.
func TestDoInSeveralScripts(t *testing.T) {
	srv := servers.Redis(t)
	d := proven(t, srv.Addr)
	batch := requests(2*mostInBatch + 6)
	taken := claimed.Acquire(t, d, mutex(batch[20].Claim.Name, "another"))
	for range 2 { // the second time with scripts that the server has forgotten
		srv.RedisCommand(t, "CONFIG", "RESETSTAT")
		for i := range batch {
			batch[i].Claim.ID = driver.NextID("")
		}
		results := sendAll(t, t.Context(), d, batch...)
		if r := results[20]; r.Err != nil || r.Status.Granted {
			t.Errorf("a lock that is taken: %+v", r)
		}
		others := slices.Delete(slices.Clone(batch), 20, 21)
		releases := areGranted(t, others, slices.Delete(results, 20, 21))
		succeed(t, sendAll(t, t.Context(), d, releases...))
		if n := scriptsRun(t, srv); n > 12 { // 3 each, and some again with their text
			t.Errorf("%d operations took %d scripts", 2*len(batch), n)
		}
		srv.RedisCommand(t, "SCRIPT", "FLUSH")
	}
	if err := d.Release(t.Context(), taken); err != nil {
		t.Error(err)
	}
}

// Where it is not known that one server has all keys, and for different operations, each has a script of its own, of
// which the server may know some and not others.
func TestDoUnknownScriptsAmongOthers(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	d.server.learn(false, time.Hour)
	batch := requests(6)
	releases := areGranted(t, batch, sendAll(t, t.Context(), d, batch...))
	srv.RedisCommand(t, "SCRIPT", "FLUSH")
	if err := d.Release(t.Context(), releases[0].Claim); err != nil { // knows the one for releases again
		t.Fatal(err)
	}
	more := requests(3)
	for i := range more {
		more[i].Claim.Name += " too"
	}
	mixed := append(releases[1:3:3], more...)
	mixed = append(mixed, driver.Op{Kind: driver.OpBreak, Claim: releases[3].Claim})
	renewal := releases[4]
	renewal.Kind = driver.OpRequest
	mixed = append(mixed, renewal)
	succeed(t, sendAll(t, t.Context(), d, mixed...))
	again := driver.Op{Kind: driver.OpRequest, Claim: releases[3].Claim}
	if r := sendAll(t, t.Context(), d, again)[0]; !errors.Is(r.Err, driver.ErrGone) {
		t.Errorf("a claim that was broken is renewed: %+v", r)
	}
}

// A script that the server refuses for the sake of one operation is rejected for all that went with it, and each of
// those is answered when it goes alone. Renewals and releases go together however full the memory is.
func TestDoRefusedWhenFull(t *testing.T) {
	srv := servers.Redis(t)
	d := proven(t, srv.Addr)
	batch := requests(4)
	releases := areGranted(t, batch, sendAll(t, t.Context(), d, batch...))
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
	fresh := requests(5)[4]
	for i, r := range sendAll(t, t.Context(), d, releases[0], fresh) {
		if !errors.Is(r.Err, driver.ErrBatchRejected) {
			t.Errorf("operation %d with one that is refused: %+v", i, r)
		}
	}
	if r := sendAll(t, t.Context(), d, fresh)[0]; !errors.Is(r.Err, driver.ErrUnsent) ||
		errors.Is(r.Err, driver.ErrBatchRejected) || !strings.Contains(r.Err.Error(), "memory is full") {
		t.Errorf("the one that is refused, alone: %+v", r)
	}
	renewal := releases[1]
	renewal.Kind = driver.OpRequest
	srv.RedisCommand(t, "CONFIG", "RESETSTAT")
	succeed(t, sendAll(t, t.Context(), d, releases[0], renewal, releases[2], releases[3]))
	if n := scriptsRun(t, srv); n > 2 { // one, perhaps first by its hash
		t.Errorf("4 operations that need no memory took %d scripts", n)
	}
}

// A server that takes the keys of one slot only rejects a batch, and no other is sent to it.
func TestDoInOneSlot(t *testing.T) {
	srv := servers.RedisCluster(t).Masters[0]
	d := proven(t, srv.Addr)
	var here []driver.Op
	for i := 0; len(here) < 2; i++ {
		op := requests(i + 1)[i]
		r := sendAll(t, t.Context(), d, op)[0]
		if r.Err == nil {
			op.Kind, op.Claim.Token = driver.OpRelease, r.Status.Token
			here = append(here, op)
		}
		if i == 100 {
			t.Fatalf("no locks are here: %v", r.Err)
		}
	}
	for _, r := range sendAll(t, t.Context(), d, here...) {
		if !errors.Is(r.Err, driver.ErrBatchRejected) {
			t.Errorf("in several slots: %v", r.Err)
		}
	}
	if d.server.isProven() {
		t.Error("it goes on sending them together")
	}
	succeed(t, sendAll(t, t.Context(), d, here...))
}

// A batch whose context has ended is unsent. One that is under way then has an unknown outcome, and what would go on
// has not been sent.
func TestDoEndsWithItsContext(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d := proven(t, p.Addr)
	batch := requests(mostInBatch + 3) // two scripts
	succeed(t, sendAll(t, t.Context(), d, areGranted(t, batch, sendAll(t, t.Context(), d, batch...))...))
	for i := range batch {
		batch[i].Claim.ID = driver.NextID("")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for i, r := range sendAll(t, ended, d, batch...) {
		if !errors.Is(r.Err, driver.ErrUnsent) || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("operation %d before: %+v", i, r)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	held := p.HoldNext([]byte(batch[3].Claim.ID))
	go func() {
		<-held.Caught()
		cancel()
	}()
	for i, r := range sendAll(t, ctx, d, batch...) {
		if errors.Is(r.Err, driver.ErrUnsent) || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("operation %d under way: %+v", i, r)
		}
	}
	held.Deliver(t)
}

// A server that has forgotten a script says so before it runs anything, so an attempt that ends then has sent nothing.
func TestDoEndsBeforeItsTextIsSent(t *testing.T) {
	d := openNative(t, servers.Redis(t).Addr)
	conn := d.conn
	for n := 1; n <= 2; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		d.conn = forgetful{conn, cancel}
		for i, r := range sendAll(t, ctx, d, requests(n)...) {
			if !errors.Is(r.Err, driver.ErrUnsent) || !errors.Is(r.Err, context.Canceled) {
				t.Errorf("operation %d of %d: %+v", i, n, r)
			}
		}
	}
}

// A forgetful server knows no script, and whoever asks gives up then.
type forgetful struct {
	Conn
	giveUp func()
}

func (f forgetful) Do(ctx context.Context, cmd Command) ([]string, error) {
	r := f.DoMany(ctx, []Command{cmd})[0]
	return r.Values, r.Err
}

func (f forgetful) DoMany(_ context.Context, cmds []Command) []Reply {
	f.giveUp()
	return failed(cmds, ReplyError("NOSCRIPT No matching script."))
}

// In a cluster a batch is for locks in several slots, on several nodes, and answers do not wait for a slot that moves.
func TestDoBesideASlotThatMoves(t *testing.T) {
	d := newNative(moving{settled: make(chan struct{})}, defaultsOf(t))
	all := make(chan int, 3)
	batch := requests(3)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Do(t.Context(), batch, func(i int, r driver.Result) {
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("operation %d: %+v", i, r)
			}
			all <- i
		})
	}()
	settle := sync.OnceFunc(func() { close(d.conn.(steady).Conn.(moving).settled) })
	late := time.AfterFunc(time.Minute, settle) // or a wrong driver would wait for ever
	first, second := <-all, <-all
	if !late.Stop() || first == 1 || second == 1 {
		t.Error("the operations in other slots waited for the one in a slot that moves")
	}
	settle()
	<-ended
	if last := <-all; last != 1 {
		t.Errorf("operation %d was answered last", last)
	}
}

func defaultsOf(t *testing.T) Options {
	t.Helper()
	opts, err := (*Options)(nil).orDefault()
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

// A moving cluster moves the slot of one lock, until that has settled.
type moving struct {
	Conn
	settled chan struct{}
}

func (moving) Cluster() bool { return true }

func (m moving) Do(ctx context.Context, cmd Command) ([]string, error) {
	select {
	case <-m.settled:
		return []string{fmt.Sprintf("g %016d 0 0", 1)}, nil
	default:
		return nil, ReplyError("TRYAGAIN Multiple keys request during rehashing of slot")
	}
}

func (m moving) DoMany(ctx context.Context, cmds []Command) []Reply {
	replies := make([]Reply, len(cmds))
	for i, cmd := range cmds {
		replies[i].Values = []string{fmt.Sprintf("g %016d 0 0", 1)}
		if strings.Contains(cmd.Keys[0], driver.EncodeName("lock 1", 0)) {
			replies[i] = Reply{Err: ReplyError("MOVED 1 127.0.0.1:1")}
		}
	}
	return replies
}

// Where replicas must confirm, a claim that they do not is given back, and a release does not wait for them.
func TestDoUnconfirmed(t *testing.T) {
	srv := servers.Redis(t) // without replicas
	d, err := drivertest.Open(t.Context(), "redis://"+srv.Addr+"?replicas=1&replicaswithin=1s")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := QueueOf(d)
	sure := openNative(t, srv.Addr)
	held := claimed.Acquire(t, sure, mutex("held", "a"))
	batch := append(requests(3), driver.Op{Kind: driver.OpRelease, Claim: held})
	results := sendAll(t, t.Context(), n, batch...)
	for i, r := range results[:3] {
		if r.Err == nil || !strings.Contains(r.Err.Error(), "0 of the 1 replicas") {
			t.Errorf("operation %d: %+v", i, r)
		}
		if !errors.Is(r.Err, driver.ErrRefused) { // to give it back took longer than the second that it may
			continue
		}
		if queue, err := sure.Queue(t.Context(), batch[i].Claim.Name); err != nil || len(queue) > 0 {
			t.Errorf("the queue has %+v, %v", queue, err)
		}
	}
	if err := results[3].Err; err != nil {
		t.Errorf("the release: %v", err)
	}
}
