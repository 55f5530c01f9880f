package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

func sentinelURL(g *servers.SentinelGroup, params string) string {
	return "redis-sentinel://" + addrs(g.Sentinels) + "/" + g.Name + params
}

// others are the servers of a group without one.
func others(g *servers.SentinelGroup, not *servers.Server) (rest []*servers.Server) {
	for _, s := range g.Servers {
		if s != not {
			rest = append(rest, s)
		}
	}
	return rest
}

// isolate cuts a master off from its replicas, which stand still: from now on nothing reaches them.
func isolate(t *testing.T, g *servers.SentinelGroup, master *servers.Server) {
	t.Helper()
	for _, s := range others(g, master) {
		s.Pause(t)
	}
	master.RedisCommand(t, "CLIENT", "KILL", "TYPE", "replica")
}

// replace kills an isolated master, and returns the server that the sentinels make master in its place.
func replace(t *testing.T, g *servers.SentinelGroup, master *servers.Server) *servers.Server {
	t.Helper()
	master.Kill(t)
	for _, s := range others(g, master) {
		s.Resume(t)
	}
	return g.Master(t, master)
}

// rejoin has a dead master come back as a replica of its successor.
func rejoin(t *testing.T, g *servers.SentinelGroup, dead, master *servers.Server) {
	t.Helper()
	dead.Restart(t)
	dead.Follow(t, master)
	g.AwaitReplaceable(t)
}

// Sentinels that take longer to answer than those that are asked every second may take are waited for by who opens.
func TestSlowSentinels(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	g.Steady(t)
	var slow []string
	for _, s := range g.Sentinels {
		p := proxy.New(t, s.Addr)
		p.Delay(400 * time.Millisecond)
		slow = append(slow, p.Addr)
	}
	d := openURL(t, "redis-sentinel://"+strings.Join(slow, ",")+"/"+g.Name+"?connecttimeout=1m")
	acquire(t, d, claim("job", long))
}

// untilAnswered requests a claim until the backend answers, as a client does.
func untilAnswered(t *testing.T, d claimed.Driver, c driver.Claim) (driver.Status, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		st, err := d.Request(ctx, c)
		if err == nil || errors.Is(err, driver.ErrGone) || errors.Is(err, driver.ErrRefused) {
			return st, err
		}
		if driver.Sleep(ctx, 20*time.Millisecond) != nil {
			t.Fatalf("no answer: %v", err)
		}
	}
}

// grantedBy requests a claim until the backend answers, which must be with a grant.
func grantedBy(t *testing.T, d claimed.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	st, err := untilAnswered(t, d, c)
	if err != nil || !st.Granted {
		t.Fatalf("the claim is not granted: %+v, %v", st, err)
	}
	c.Token = st.Token
	return c
}

// A resource is what a lock protects. It accepts no write under a smaller token than the greatest it has seen.
type resource struct{ last uint64 }

func (r *resource) write(token uint64) bool {
	if token < r.last {
		return false
	}
	r.last = token
	return true
}

// A master that dies before it has replicated a grant takes it to its grave: then two believe to hold the lock. The
// token of the second is greater, so the resource refuses what the first still writes.
func TestFailoverLosesWrites(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	first, second := openURL(t, sentinelURL(g, "")), openURL(t, sentinelURL(g, ""))
	var protected resource
	for round := range effort.Pick(3, 50) {
		master := g.Master(t, nil)
		isolate(t, g, master)
		held := grantedBy(t, first, claim("jobs", long))
		if !protected.write(held.Token) {
			t.Fatalf("round %d: the token %d does not grow", round, held.Token)
		}
		successor := replace(t, g, master)

		c := grantedBy(t, second, claim("jobs", long))
		if !protected.write(c.Token) || c.Token <= held.Token {
			t.Fatalf("round %d: after the failover the token %d follows %d", round, c.Token, held.Token)
		}
		if protected.write(held.Token) {
			t.Errorf("round %d: a stale write was accepted", round)
		}
		if _, err := untilAnswered(t, first, held); !errors.Is(err, driver.ErrGone) {
			t.Errorf("round %d: the first holder is told %v, want ErrGone", round, err)
		}
		release(t, second, c)
		rejoin(t, g, master, successor)
	}
}

// What was replicated outlives a failover: the holder keeps its lock under its token, and the next in line its place.
func TestClaimsOutliveFailover(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	d, other := openURL(t, sentinelURL(g, "?replicas=2")), openURL(t, sentinelURL(g, ""))
	held := acquire(t, d, claim("jobs", long))
	next := enqueue(t, other, claim("jobs", long))
	acquire(t, d, claim("more", long)) // with all that was written before, replicas have this

	g.Master(t, nil).Kill(t)
	if st, err := untilAnswered(t, other, held); err != nil || !st.Granted || st.Token != held.Token {
		t.Errorf("after the failover the holder is told %+v, %v; want its token %d", st, err, held.Token)
	}
	if st, err := untilAnswered(t, other, next); err != nil || st.Granted || st.Token != next.Token {
		t.Errorf("after the failover the next in line is told %+v, %v; want its token %d", st, err, next.Token)
	}
	release(t, other, held)
	await(t, other, next)
}

// A master that was replaced while it stood still does not know it when it wakes up. Neither the answers that it then
// gives are believed, nor is it asked again.
func TestReplacedMasterIsNotBelieved(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	d, other := openURL(t, sentinelURL(g, "")), openURL(t, sentinelURL(g, ""))
	release(t, d, acquire(t, d, claim("jobs", long))) // the scripts are known
	old := g.Master(t, nil)
	old.Pause(t)
	asking, stop := context.WithCancel(t.Context())
	defer stop()
	granted := make(chan []string, 1)
	go func() { granted <- askAllTheTime(asking, d) }()
	successor := g.Master(t, old)

	// Only when the new master has granted the lock the old one wakes up. It grants it to the other client, or to ours
	// if that was first to learn of it.
	if _, err := untilAnswered(t, other, claim("jobs", 2*long)); err != nil {
		t.Fatal(err)
	}
	var winner string
	eventually(t, "our client goes to the new master", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		queue, err := d.Queue(ctx, "jobs")
		if err != nil || len(queue) == 0 || !queue[0].Granted {
			return false
		}
		winner = queue[0].ID
		return true
	})
	stop()
	old.Resume(t)
	for _, id := range <-granted {
		if id != winner {
			t.Errorf("the old master granted the lock to %s, while the new one at %s had granted it to %s", id,
				successor.Addr, winner)
		}
	}
	if st, err := untilAnswered(t, d, claim("jobs", long)); err != nil || st.Granted {
		t.Errorf("afterwards: %+v, %v; want to wait", st, err)
	}
}

// askAllTheTime begins requests until ctx ends, so that one is always under way that has not been repeated yet. It
// returns the IDs of those that were granted, when all are answered.
func askAllTheTime(ctx context.Context, d *redislock.QueueDriver) (granted []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := 0; ctx.Err() == nil; i++ {
		all.Go(func() {
			answered, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			c := claim("jobs", 2*long)
			c.ID = fmt.Sprint("ours", i)
			if st, err := d.Request(answered, c); err == nil && st.Granted {
				mu.Lock()
				defer mu.Unlock()
				granted = append(granted, c.ID)
			}
		})
		driver.Sleep(ctx, 200*time.Millisecond)
	}
	all.Wait()
	return granted
}

// shortOf fails the test unless an error says that replicas are missing. refused tells whether that is an answer.
func shortOf(t *testing.T, what string, err error, refused bool) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "replicas") ||
		errors.Is(err, driver.ErrRefused) != refused || errors.Is(err, driver.ErrGone) {
		t.Errorf("%s: %v; want an error about replicas, ErrRefused: %v", what, err, refused)
	}
}

func TestReplicasAreMissing(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	strict, lax := openURL(t, sentinelURL(g, "?replicas=2&replicaswithin=1s")), openURL(t, sentinelURL(g, ""))
	held := acquire(t, strict, claim("held", 2*long))
	other := acquire(t, strict, claim("other", 2*long))
	blocked := acquire(t, lax, claim("queue", 2*long))
	waiting := enqueue(t, strict, claim("queue", 2*long))
	lagging := others(g, g.Master(t, nil))[0]
	lagging.Pause(t)

	// Of a new claim nothing is left.
	c := claim("new", long)
	st, err := strict.Request(t.Context(), c)
	shortOf(t, "a new claim", err, true)
	if st.Granted {
		t.Errorf("a new claim: %+v", st)
	}
	release(t, lax, acquire(t, lax, claim("new", long)))

	// A renewal extends nothing, alone or with others, and may be repeated.
	_, err = strict.Request(t.Context(), held)
	shortOf(t, "a renewal", err, false)
	results, err := strict.Renew(t.Context(), []driver.Claim{held, other})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		shortOf(t, "a renewal with others", r.Err, false)
	}

	// A waiting claim needs no replicas until it is granted; then it must ask, and they must have it.
	release(t, lax, blocked)
	if st, err := strict.Wait(t.Context(), waiting); err != nil || st.Granted {
		t.Errorf("a grant that nobody confirmed was pushed: %+v, %v", st, err)
	}
	_, err = strict.Request(t.Context(), waiting)
	shortOf(t, "a claim that was granted by a release", err, false)
	if _, _, err = strict.Propose(t.Context(), claim("proposed", long), uint64(time.Now().UnixMicro())); err == nil {
		t.Error("a proposal is granted without replicas")
	}

	lagging.Resume(t)
	for _, c := range []driver.Claim{held, other, waiting} {
		if st, err := untilAnswered(t, strict, c); err != nil || !st.Granted {
			t.Errorf("with all replicas: %+v, %v", st, err)
		}
		release(t, strict, c)
	}
}

// A grant that would be lost with its master does not count where replicas must have it.
func TestReplicasPreventTwoHolders(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	strict := openURL(t, sentinelURL(g, "?replicas=1&replicaswithin=1s"))
	master := g.Master(t, nil)
	isolate(t, g, master)
	_, err := strict.Request(t.Context(), claim("jobs", long))
	shortOf(t, "an isolated master", err, true)
	replace(t, g, master)
	if st, err := untilAnswered(t, strict, claim("jobs", long)); err != nil || !st.Granted {
		t.Errorf("after the failover: %+v, %v", st, err)
	}
}

// A sentinel that was away during a failover is not believed, as long as it is alone.
func TestStaleSentinel(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	old, stale := g.Master(t, nil), g.Sentinels[0]
	stale.Kill(t)
	old.Kill(t)
	awake := &servers.SentinelGroup{Name: g.Name, Servers: g.Servers, Sentinels: g.Sentinels[1:]}
	awake.Master(t, old)
	d := openURL(t, sentinelURL(g, ""))
	held := acquire(t, d, claim("jobs", 2*long))

	for _, s := range awake.Sentinels {
		s.Pause(t)
	}
	old.Restart(t) // as the master that the stale sentinel takes it for
	stale.Restart(t)
	for range 100 { // while the sentinels are asked several times
		if st, err := untilAnswered(t, d, held); err != nil || st.Token != held.Token {
			t.Fatalf("a renewal goes to the former master: %+v, %v", st, err)
		}
		driver.Sleep(t.Context(), 30*time.Millisecond)
	}
}

// Options that contradict themselves are refused.
func TestReplicaOptions(t *testing.T) {
	srv := servers.Redis(t)
	for _, params := range []string{"?replicas=-1", "?replicaswithin=-1s", "?replicaswithin=1500us"} {
		if _, err := drivertest.Open(t.Context(), "redis://"+srv.Addr+params); err == nil {
			t.Errorf("%s was accepted", params)
		}
	}
	if _, err := redislock.NewOn(nil, &redislock.Options{Replicas: -1}); err == nil {
		t.Error("fewer than no replicas were accepted")
	}
}

// A single server can have replicas too. Without any, nothing is ever granted.
func TestReplicasOfASingleServer(t *testing.T) {
	t.Parallel()
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "?replicas=1&replicaswithin=2s")
	_, err := d.Request(t.Context(), claim("jobs", long))
	shortOf(t, "a server without replicas", err, true)
	servers.Redis(t).Follow(t, srv)
	for i := range 3 {
		release(t, d, acquire(t, d, claim(fmt.Sprint("jobs ", i), long)))
	}
}

// A URL that says sentinel of a server, or server of a sentinel, is told so.
func TestSentinelForServer(t *testing.T) {
	g := servers.RedisSentinel(t)
	_, err := drivertest.Open(t.Context(), "redis-sentinel://"+addrs(g.Servers[:1])+"/"+g.Name)
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "not a sentinel; use a URL like redis://") {
		t.Errorf("a server as a sentinel: %v", err)
	}
	d := openAt(t, g.Sentinels[0].Addr, "")
	_, err = d.Request(t.Context(), claim("jobs", long))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "redis-sentinel://") {
		t.Errorf("a sentinel as a server: %v", err)
	}
	findings, err := d.Check(t.Context(), false)
	unsafe := facts(findings, driver.Unsafe)
	if err != nil || len(findings) != 1 || !strings.Contains(unsafe, "is a sentinel") {
		t.Errorf("examining a sentinel: %+v, %v", findings, err)
	}
}

// What is advised about replicas depends on how many there are and how many must have a grant.
func TestCheckReplicas(t *testing.T) {
	primary := servers.Redis(t, "--repl-diskless-sync-delay", "0")
	for range 2 {
		servers.Redis(t).Follow(t, primary)
	}
	role := func(params string) string {
		t.Helper()
		findings, err := driver.Check(t.Context(), openAny(t, "redis://"+primary.Addr+params), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if strings.Contains(f.Fact, "2 replicas") {
				return f.Fact + "; " + f.Advice
			}
		}
		t.Fatalf("nothing is said about replicas: %+v", findings)
		return ""
	}
	eventually(t, "two replicas are there", func() bool {
		return strings.Contains(primary.RedisCommand(t, "INFO", "replication"), "connected_slaves:2")
	})
	for params, want := range map[string]string{
		"":                 "set replicas=1 in the URL",
		"?replicas=1":      "set replicas=2 in the URL",
		"?replicas=2":      "min-replicas-to-write",
		"?replicas=3":      "no lock is granted",
		"?layout=redisson": "min-replicas-to-write",
	} {
		if got := role(params); !strings.Contains(got, want) {
			t.Errorf("with %q: %s; want %q", params, got, want)
		}
	}
	for _, params := range []string{"?replicas=2", "?layout=redisson"} {
		if got := role(params); strings.Contains(got, "in the URL") {
			t.Errorf("with %q: %s; there is nothing to set in the URL", params, got)
		}
	}
	primary.RedisCommand(t, "CONFIG", "SET", "min-replicas-to-write", "1")
	if got := role("?replicas=2"); !strings.HasSuffix(got, "; ") {
		t.Errorf("with all as it should be: %s", got)
	}
}

// A client that follows sentinels by itself believes a master that was replaced for as long as it has not heard of
// that. It is refused, with the way to go.
func TestNoClientOfSentinels(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{g.Sentinels[0].Addr}, Sentinel: rueidis.SentinelOption{MasterSet: g.Name},
		DisableCache: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, native := redislock.New(client, nil)
	_, foreign := redislock.New(client, &redislock.Options{Layout: redislock.Redisson})
	for _, err := range []error{native, foreign} {
		if err == nil || !strings.Contains(err.Error(), "redis-sentinel://") {
			t.Errorf("%v; want an error with the URL to use", err)
		}
	}
}
