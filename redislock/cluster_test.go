package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

func openCluster(t testing.TB, c *servers.ClusterOfRedis, params string) *redislock.QueueDriver {
	t.Helper()
	return openURL(t, "redis-cluster://"+addrs(c.Masters)+params)
}

// A guarded is what one lock protects: it notices two that are inside, and tokens that do not grow.
type guarded struct {
	name   string
	inside atomic.Int32
	last   atomic.Uint64
	passed atomic.Int32
}

func (g *guarded) visit(t *testing.T, token uint64) {
	if g.inside.Add(1) != 1 {
		t.Errorf("%s: two are inside", g.name)
	}
	if before := g.last.Swap(token); token <= before {
		t.Errorf("%s: token %d follows %d", g.name, token, before)
	}
	g.passed.Add(1)
	g.inside.Add(-1)
}

// crowd has clients go through locks until ctx ends. None of them may ever see an error.
func crowd(ctx context.Context, t *testing.T, clients []*redislock.QueueDriver, locks []*guarded) {
	var all sync.WaitGroup
	for i, d := range clients {
		for _, g := range locks {
			all.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					if err := pass(d, g, t, i%2 == 0); err != nil {
						t.Errorf("%s: %v", g.name, err)
					}
				}
			})
		}
	}
	all.Wait()
}

// pass goes through a lock once, renewing while it waits as a keeper does; some renew with others.
func pass(d *redislock.QueueDriver, g *guarded, t *testing.T, batch bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := claim(g.name, long)
	st, err := d.Request(ctx, c)
	for c.Token = st.Token; err == nil && !st.Granted; {
		waiting, stop := context.WithTimeout(ctx, 500*time.Millisecond)
		st, err = d.Wait(waiting, c)
		stop()
		if err == nil && st.Granted {
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("nobody let us in: %w", ctx.Err())
		}
		if batch {
			var results []driver.Result
			if results, err = d.Renew(ctx, []driver.Claim{c}); err == nil {
				st, err = results[0].Status, results[0].Err
			}
		} else {
			st, err = d.Request(ctx, c)
		}
	}
	if err != nil {
		return err
	}
	g.visit(t, c.Token)
	return d.Release(ctx, c)
}

// Slots move from node to node all the time, key by key, while clients use the locks in them.
func TestReshardingUnderLoad(t *testing.T) {
	c := servers.RedisCluster(t)
	clients := []*redislock.QueueDriver{openCluster(t, c, ""), openCluster(t, c, ""), openCluster(t, c, "?replicas=1")}
	var locks []*guarded
	for i := range 3 {
		locks = append(locks, &guarded{name: fmt.Sprint("lock ", i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { crowd(ctx, t, clients, locks) })
	defer working.Wait()
	defer cancel()
	for i := range effort.Pick(30, 1000) {
		lock := locks[i%len(locks)]
		slot := c.SlotOf(t, "holdfast:{"+driver.EncodeName(lock.name, 0)+"}")
		passed := lock.passed.Load()
		at := slices.Index(c.Masters, c.Owner(t, slot))
		c.MoveSlot(t, slot, c.Masters[(at+1)%len(c.Masters)], func() {
			driver.Sleep(ctx, 5*time.Millisecond) // the scripts find some of the keys here and some there
		})
		eventually(t, "clients go on where the slot is now", func() bool {
			return lock.passed.Load() > passed+5 || t.Failed()
		})
	}
	for _, lock := range locks {
		t.Logf("%s: %d passed", lock.name, lock.passed.Load())
	}
}

// Holders renew many locks at once while the slot of one of them moves.
func TestRenewWhileSlotsMove(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	d := openCluster(t, c, "")
	var held []driver.Claim
	for i := range 10 {
		held = append(held, acquire(t, d, claim(fmt.Sprint("held ", i), time.Minute)))
	}
	slot := c.SlotOf(t, "holdfast:{"+driver.EncodeName(held[0].Name, 0)+"}")
	for range effort.Pick(10, 100) {
		var renewing sync.WaitGroup
		at := slices.Index(c.Masters, c.Owner(t, slot))
		c.MoveSlot(t, slot, c.Masters[(at+1)%len(c.Masters)], func() {
			renewing.Go(func() { renewAll(t, d, held) })
			driver.Sleep(t.Context(), 10*time.Millisecond) // neither node has all keys
		})
		renewing.Wait()
	}
}

func renewAll(t *testing.T, d *redislock.QueueDriver, held []driver.Claim) {
	results, err := d.Renew(context.Background(), held)
	if err != nil {
		t.Errorf("Renew: %v", err)
		return
	}
	for i, r := range results {
		if r.Err != nil || !r.Status.Granted || r.Status.Token != held[i].Token {
			t.Errorf("%s: %+v, %v", held[i].Name, r.Status, r.Err)
		}
	}
}

// What is told about a lock goes to the nodes of its slot, and a client that waits listens to them alone, also after
// the slot has moved.
func TestShardedMessages(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	holder, waiter := openCluster(t, c, ""), openCluster(t, c, "")
	slot := c.SlotOf(t, "holdfast:{jobs}")
	for range 3 {
		held := acquire(t, holder, claim("jobs", long))
		next := enqueue(t, waiter, claim("jobs", 5*long))
		owner := c.Owner(t, slot)
		for _, s := range c.Masters {
			if all := s.RedisCommand(t, "PUBSUB", "CHANNELS"); all != "" {
				t.Errorf("%s has channels for the whole cluster: %s", s.Addr, all)
			}
			if channels := s.RedisCommand(t, "PUBSUB", "SHARDCHANNELS"); (channels != "") != (s == owner) {
				t.Errorf("%s has the channels %q; the lock is at %s", s.Addr, channels, owner.Addr)
			}
		}
		release(t, holder, held)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		st, err := waiter.Wait(ctx, next)
		for err == nil && st == (driver.Status{}) { // the subscription was renewed after the slot has moved
			if st, err = waiter.Request(ctx, next); err == nil && !st.Granted {
				st, err = waiter.Wait(ctx, next)
			}
		}
		if err != nil || !st.Granted || st.Token != next.Token {
			t.Errorf("the next in line is told %+v, %v", st, err)
		}
		cancel()
		release(t, waiter, next)

		at := slices.Index(c.Masters, owner)
		to := c.Masters[(at+1)%len(c.Masters)]
		c.MoveSlot(t, slot, to, nil)
		eventually(t, "the client listens where the slot is now", func() bool {
			return to.RedisCommand(t, "PUBSUB", "SHARDCHANNELS") != ""
		})
	}
}

// An uncontended lock costs one request and another one, in a cluster too: nobody listens before there is a reason.
func TestNobodyListensWithoutReason(t *testing.T) {
	c := servers.RedisCluster(t)
	d := openCluster(t, c, "")
	for i := range 50 {
		op := driver.Op{Kind: driver.OpRequest, Claim: claim(fmt.Sprint("lock ", i), long)} // which is not followed
		d.Do(t.Context(), []driver.Op{op}, func(_ int, r driver.Result) {
			if r.Err != nil || !r.Status.Granted {
				t.Errorf("Request: %+v", r)
			}
		})
	}
	for _, s := range c.Masters {
		if channels := s.RedisCommand(t, "PUBSUB", "SHARDCHANNELS"); channels != "" {
			t.Errorf("%s has channels: %s", s.Addr, channels)
		}
	}
}

// A holder that nobody told anything, because it did not have to wait, is told when it listens.
func TestHolderListensLater(t *testing.T) {
	d := openCluster(t, servers.RedisCluster(t), "")
	held := acquire(t, d, claim("jobs", long))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if st, err := d.Wait(ctx, held); err != nil || st != (driver.Status{}) {
		t.Fatalf("at first Wait says %+v, %v; want to ask again", st, err)
	}
	acquire(t, d, held)
	if err := d.Revoke(t.Context(), "jobs", held.ID); err != nil {
		t.Fatal(err)
	}
	if st, err := d.Wait(ctx, held); err != nil || !st.Revoked {
		t.Errorf("the holder is told %+v, %v; want that it is revoked", st, err)
	}
}

// Many locks at once are spread over all masters.
func TestClusterBatches(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"", "?replicas=1"} {
		t.Run(params, func(t *testing.T) {
			c := servers.RedisCluster(t)
			d := openCluster(t, c, params)
			want := make(map[string]bool)
			var claims []driver.Claim
			for i := range 200 {
				name := fmt.Sprint("batch/", i)
				want[name] = true
				claims = append(claims, acquire(t, d, claim(name, long)))
			}
			for _, s := range c.Masters {
				s.RedisCommand(t, "SCRIPT", "FLUSH")
			}
			results, err := d.Renew(t.Context(), claims)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range results {
				if r.Err != nil || r.Status.Token != claims[i].Token {
					t.Fatalf("renewal %d: %+v, %v", i, r.Status, r.Err)
				}
			}
			found := make(map[string]bool)
			for name, err := range d.List(t.Context(), "batch/") {
				if err != nil {
					t.Fatal(err)
				}
				found[name] = true
			}
			if !maps.Equal(found, want) {
				t.Errorf("%d of %d locks were listed", len(found), len(want))
			}
		})
	}
}

// Every master is examined: each evicts by itself.
func TestCheckCluster(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	d := openCluster(t, c, "")
	c.Masters[1].RedisCommand(t, "CONFIG", "SET", "maxmemory", "100mb")
	c.Masters[1].RedisCommand(t, "CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
	findings, err := d.Check(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	servers := make(map[string]bool)
	var unsafe []string
	for _, f := range findings {
		server, _, _ := strings.Cut(f.Fact, ": ")
		servers[server] = true
		if f.Level == driver.Unsafe {
			unsafe = append(unsafe, f.Fact)
		}
	}
	if len(servers) != 3 {
		t.Errorf("servers examined: %v, want the three masters", servers)
	}
	if len(unsafe) != 1 || !strings.HasPrefix(unsafe[0], c.Masters[1].Addr) ||
		!strings.Contains(unsafe[0], "volatile-ttl") {
		t.Errorf("unsafe is %q, want the eviction of %s", unsafe, c.Masters[1].Addr)
	}
}

// Who gives up sooner than one server answers costs nobody the connection to it, though the others answer at once.
func TestImpatienceAtASlowServer(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	quick, slow := c.Masters[0], c.Masters[1]
	p := proxy.New(t, slow.Addr)
	_, port, _ := strings.Cut(p.Addr, ":")
	slow.RedisCommand(t, "CONFIG", "SET", "cluster-announce-port", port)
	eventually(t, "clients are sent to the proxy", func() bool {
		return strings.Contains(quick.RedisCommand(t, "CLUSTER", "NODES"), ":"+port+"@")
	})
	nameAt := func(s *servers.Server, name string) string {
		for c.Owner(t, c.SlotOf(t, "holdfast:{"+name+"}")) != s {
			name += "x"
		}
		return name
	}
	d := openURL(t, "redis-cluster://"+quick.Addr)
	busy := acquire(t, d, claim(nameAt(quick, "busy"), long))
	ctx, cancel := context.WithCancel(t.Context())
	var renewing sync.WaitGroup
	defer renewing.Wait()
	defer cancel()
	renewing.Go(func() {
		for driver.Sleep(ctx, time.Millisecond) == nil {
			d.Request(ctx, busy)
		}
	})
	renewBesideTheImpatient(t, p, d, nameAt(slow, "held"), nameAt(slow, "wanted"))
}

// A replica that is gone hides no lock, and keeps nobody from examining the servers.
func TestListWithoutAReplica(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	eventually(t, "all servers are known to be well", func() bool {
		return strings.Count(c.Masters[0].RedisCommand(t, "CLUSTER", "SHARDS"), "online") == len(c.All())
	})
	d := openURL(t, "redis-cluster://"+c.Masters[0].Addr)
	for i := range 10 {
		acquire(t, d, claim(fmt.Sprint("held ", i), long))
	}
	c.Replicas[0].Kill(t)
	listed := 0
	for _, err := range d.List(t.Context(), "held ") {
		if err != nil {
			t.Fatal(err)
		}
		listed++
	}
	if listed != 10 {
		t.Errorf("%d locks are listed of 10", listed)
	}
	if _, err := d.Check(t.Context(), false); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// In a cluster those who wait listen in the slot of the lock.
func TestCheckOfDeafUserInCluster(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	for _, s := range append(slices.Clone(c.Masters), c.Replicas...) {
		s.RedisCommand(t, "ACL", "SETUSER", "nochan", "on", ">pw", "~*", "resetchannels", "&other", "+@all")
	}
	findings, err := openURL(t, "redis-cluster://nochan:pw@"+addrs(c.Masters)).Check(t.Context(), false)
	if unsafe := facts(findings, driver.Unsafe); err != nil || !strings.Contains(unsafe, "channels") {
		t.Errorf("unsafe is %q, %v; want that the user may not listen", unsafe, err)
	}
}

// Who may not listen, and so is refused, leaves no claim that would be granted without anybody's knowledge.
func TestRefusedListenerLeavesNothing(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	for _, s := range append(slices.Clone(c.Masters), c.Replicas...) {
		s.RedisCommand(t, "ACL", "SETUSER", "nochan", "on", ">pw", "~*", "resetchannels", "&other", "+@all")
	}
	d := openCluster(t, c, "")
	held := acquire(t, d, claim("jobs", long))
	deaf := openURL(t, "redis-cluster://nochan:pw@"+addrs(c.Masters))
	if st, err := deaf.Request(t.Context(), claim("jobs", long)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("it is told %+v, %v", st, err)
	}
	queue, err := d.Queue(t.Context(), "jobs")
	if err != nil || len(queue) != 1 {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
	release(t, d, held)
}

// A foreign layout is refused in a cluster, with the same words whether or not the URL says that it is one.
func TestForeignLayoutInCluster(t *testing.T) {
	c := servers.RedisCluster(t)
	for _, layout := range foreignLayouts {
		for _, url := range []string{"redis://" + c.Masters[0].Addr, "redis-cluster://" + addrs(c.Masters)} {
			d, err := drivertest.Open(t.Context(), url+"?layout="+string(layout))
			if err == nil {
				t.Cleanup(func() { d.Close() })
				_, err = d.Request(t.Context(), claim("jobs", long))
				if !errors.Is(err, driver.ErrRefused) {
					t.Errorf("%s, %s: %v, want ErrRefused", url, layout, err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), "locks of other libraries need one server") {
				t.Errorf("%s, %s: %v, want an error that says what they need", url, layout, err)
			}
		}
	}
}

// When a master dies, its replica goes on with what was replicated, and the client finds it.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t, "--cluster-node-timeout", "1000")
	d := openCluster(t, c, "?replicas=1")
	held := acquire(t, d, claim("jobs", 2*long))
	c.Owner(t, c.SlotOf(t, "holdfast:{jobs}")).Kill(t)
	lax := openCluster(t, c, "")
	if st, err := untilAnswered(t, lax, held); err != nil || !st.Granted || st.Token != held.Token {
		t.Errorf("after the failover the holder is told %+v, %v; want its token %d", st, err, held.Token)
	}
	release(t, lax, held)
	grantedBy(t, lax, claim("jobs", long))
}

// While a server of a cluster hangs, the locks that the others keep are renewed, and can be had, also where replicas
// must confirm that.
func TestLocksBesideAHungNode(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t, "--cluster-node-timeout", "60000") // until then no replica takes over
	d := openCluster(t, c, "?replicas=1")
	var there, elsewhere []driver.Claim // on the server that hangs, and on others
	for i := 0; len(there) < 20 || len(elsewhere) < 20; i++ {
		held := acquire(t, d, claim(fmt.Sprint("lock ", i), time.Hour))
		slot := c.SlotOf(t, "holdfast:{"+driver.EncodeName(held.Name, 0)+"}")
		if c.Owner(t, slot) == c.Masters[0] {
			there = append(there, held)
		} else {
			elsewhere = append(elsewhere, held)
		}
	}
	renewAll(t, d, slices.Concat(there, elsewhere))
	c.Masters[0].Pause(t)
	defer c.Masters[0].Resume(t)
	pace.Run(t, "beside it", func(t *pace.T) { askBesideAHungNode(t, d, there, elsewhere) })
}

// askBesideAHungNode tries locks and renews claims, of which some are on a server that hangs.
func askBesideAHungNode(t *pace.T, d *redislock.QueueDriver, there, elsewhere []driver.Claim) {
	ctx, cancel := context.WithTimeout(t.Context(), t.Scaled(6*time.Second)) // more than an attempt has
	defer cancel()
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	try := func(lock string) error {
		c := claim(lock, time.Hour)
		c.Queue = false
		_, err := d.Request(ctx, c)
		return err
	}
	for _, held := range there {
		asking.Go(func() { try(held.Name) })
	}
	for _, held := range elsewhere {
		if err := try(held.Name); err != nil {
			t.Errorf("%s: %v, want that it is taken", held.Name, err)
		}
	}
	results, err := d.Renew(ctx, slices.Concat(there, elsewhere))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results[len(there):] {
		if r.Err != nil || !r.Status.Granted {
			t.Errorf("the renewal of lock %d of the others: %+v", i, r)
		}
	}
}
