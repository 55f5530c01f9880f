package redislock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// The keys of a lock are made at different times. When holder and line die, and nobody wants the lock until the
// oldest of its keys expires, the others may be left; whoever comes then has the lock all the same, and a line can
// form.
func TestKeysExpireApart(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	for name, d := range map[string]*QueueDriver{"alone": openNative(t, srv.Addr), "batches": batching(t, srv.Addr)} {
		clock.Set(t, 0)
		claimed.Acquire(t, d, mutex(name, "one")) // the claims live an hour from here
		clock.Set(t, 20*time.Minute)
		claimed.Acquire(t, d, mutex(name, "two"))
		waiting(t, d, mutex(name, "three")) // order and expiry are made here
		clock.Set(t, 61*time.Minute)

		holder := claimed.Acquire(t, d, mutex(name, "four"))
		next := waiting(t, d, mutex(name, "five"))
		if err := d.Release(t.Context(), holder); err != nil {
			t.Fatalf("%s: Release: %v", name, err)
		}
		claimed.Acquire(t, d, next)
	}
}

// The log of the server says of which lock the keys were thrown away.
func TestDamageIsLogged(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	claimed.Acquire(t, d, mutex("job", "one"))
	next := waiting(t, d, mutex("job", "two"))
	k, err := d.keys.of("job")
	if err != nil {
		t.Fatal(err)
	}
	srv.RedisCommand(t, "DEL", k.order)
	if _, err := d.Request(t.Context(), next); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Request: %v", err)
	}
	if want := "holdfast makes " + k.claims + " anew"; !strings.Contains(srv.Log(t), want) {
		t.Errorf("the server does not say %q", want)
	}
}

// Clients that keep claims for different times share a lock: the shorter time of one does not end the claim of
// another.
func TestKeepsOfDifferentLength(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	long, short := openNative(t, srv.Addr), openNative(t, srv.Addr)
	short.keep.usual = time.Minute
	short.scripts = loadScripts(short.opts, short.keep)
	for _, ahead := range []int{0, 1, 2} {
		name := fmt.Sprintf("behind %d others", ahead)
		clock.Set(t, 0)
		var before []driver.Claim
		for i := range max(ahead, 1) {
			c := mutex(name, strconv.Itoa(i))
			c.TTL = time.Second
			if st, err := short.Request(t.Context(), c); err != nil || st.Granted != (i == 0) {
				t.Fatal(st, err)
			}
			before = append(before, c)
		}
		held := mutex(name, "held")
		held.TTL = 70 * time.Second
		if ahead > 0 {
			held = waiting(t, long, held)
		}
		for _, c := range before {
			if err := short.Release(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		held = claimed.Acquire(t, long, held)
		clock.Set(t, 65*time.Second)
		if st, err := long.Request(t.Context(), held); err != nil || !st.Granted || st.Token != held.Token {
			t.Errorf("%s: a renewal in time: %+v, %v", name, st, err)
		}
	}
}

// waiting requests a claim, which must have to wait.
func waiting(t testing.TB, d claimed.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	st, err := d.Request(context.Background(), c)
	if err != nil || st.Granted {
		t.Fatalf("Request: %+v, %v; want to wait", st, err)
	}
	c.Token = st.Token
	return c
}

// Whatever becomes of the keys of a lock, every script answers, nobody is let in beside a holder whose key is there,
// and who asks for the lock has it when a TTL has passed, under a greater token.
func TestDamagedKeys(t *testing.T) {
	rounds := 400
	for _, seed := range []uint64{1, 2, uint64(time.Now().UnixNano())} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			clock := servers.NewClock(t)
			srv := servers.RedisAt(t, clock)
			r := &damaged{
				T: t, Rand: rand.New(rand.NewPCG(seed, 0)), srv: srv, clock: clock,
				drivers: []*QueueDriver{openNative(t, srv.Addr), batching(t, srv.Addr)},
			}
			for i := range rounds {
				if !t.Failed() {
					r.round(strconv.Itoa(i))
				}
			}
		})
	}
}

// A damaged is a server whose keys are damaged, round after round, each with a lock of its own.
type damaged struct {
	*testing.T
	*rand.Rand
	srv     *servers.Server
	clock   *servers.Clock
	ahead   time.Duration
	drivers []*QueueDriver

	name   string
	keys   keys
	claims []driver.Claim // all that were requested
	tokens uint64         // the greatest of those that were granted
	log    []string
}

const damagedTTL = 20 * time.Second

func (r *damaged) round(name string) {
	r.name, r.claims, r.tokens, r.log = name, nil, 0, nil
	r.keys, _ = r.drivers[0].keys.of(name)
	for range r.IntN(12) {
		r.use()
	}
	held := r.exclusive()
	keyIsLeft := r.damage()
	if held.ID != "" && keyIsLeft {
		r.nobodyElse(held)
	}
	for _, try := range r.Perm(8)[:r.IntN(8)] {
		r.answers(try)
	}
	r.contend()
	if r.Failed() {
		r.Logf("lock %s: %q", name, r.log)
	}
}

func (r *damaged) driver() *QueueDriver { return r.drivers[r.IntN(len(r.drivers))] }

func (r *damaged) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// pass has time pass on the server.
func (r *damaged) pass(d time.Duration) {
	r.ahead += d
	r.clock.Set(r.T, r.ahead)
	r.note("%v pass", d)
}

// use uses the lock as clients do.
func (r *damaged) use() {
	switch n := r.IntN(10); {
	case n < 6 || len(r.claims) == 0:
		r.request(r.claim())
	case n < 8:
		c := r.claims[r.IntN(len(r.claims))]
		r.check("release "+c.ID, r.driver().Release(r.Context(), c))
	case n < 9:
		r.pass(time.Duration(r.IntN(30)) * time.Second)
	default:
		r.pass(time.Duration(r.IntN(70)) * time.Minute)
	}
}

// claim returns a new claim: of a mutex, a reader, a writer or a permit.
func (r *damaged) claim() driver.Claim {
	units := [][2]int64{{1, 1}, {1, 1}, {1, driver.All}, {driver.All, driver.All}, {1, 3}}[r.IntN(5)]
	id := fmt.Sprintf("c%d", len(r.claims))
	if r.IntN(3) == 0 {
		id = fmt.Sprintf("series%d_%08d", r.IntN(2), len(r.claims))
	}
	return driver.Claim{
		Name: r.name, ID: id, Weight: units[0], Limit: units[1],
		TTL: damagedTTL, Queue: r.IntN(5) > 0, Owner: "a test",
	}
}

func (r *damaged) request(c driver.Claim) (driver.Claim, driver.Status) {
	st, err := r.driver().Request(r.Context(), c)
	r.check("request "+c.ID, err)
	if st.Granted && c.Token == 0 {
		if st.Token <= r.tokens && !r.knows(c.ID) {
			r.Errorf("%s is granted under the token %d, after %d", c.ID, st.Token, r.tokens)
		}
		r.tokens = max(r.tokens, st.Token)
	}
	c.Token = st.Token
	if err == nil && !r.knows(c.ID) {
		r.claims = append(r.claims, c)
	}
	return c, st
}

func (r *damaged) knows(id string) bool {
	for _, c := range r.claims {
		if c.ID == id {
			return true
		}
	}
	return false
}

// check fails unless a script answered.
func (r *damaged) check(what string, err error) {
	r.Helper()
	r.note("%s: %v", what, err)
	if err != nil && !errors.Is(err, driver.ErrGone) {
		r.Errorf("%s: %v", what, err)
	}
}

// exclusive is a claim that has the lock alone, and for a while.
func (r *damaged) exclusive() (c driver.Claim) {
	queue, err := r.driver().Queue(r.Context(), r.name)
	r.check("queue", err)
	if len(queue) > 0 && queue[0].Granted && queue[0].Weight == queue[0].Limit && queue[0].Left > damagedTTL/4 {
		return queue[0].Claim
	}
	return driver.Claim{}
}

// nobodyElse fails if somebody is let in while the lock is held.
func (r *damaged) nobodyElse(held driver.Claim) {
	c := r.claim()
	c.Queue = false
	if _, st := r.request(c); st.Granted {
		r.Errorf("%s is let in beside %s", c.ID, held.ID)
	}
}

// damage does something to the keys, and reports whether the one that is the lock was spared.
func (r *damaged) damage() (spared bool) {
	spared = true
	for range 1 + r.IntN(3) {
		switch key := r.keys.list[r.IntN(keysOfLock)]; r.IntN(3) {
		case 0:
			spared = spared && key != r.keys.lock
			r.redis("DEL", key)
		case 1:
			spared = spared && key != r.keys.lock
			r.truncate(key)
		case 2:
			spared = r.age(key) && spared
		}
	}
	return spared
}

func (r *damaged) redis(args ...string) string {
	r.note("%q", args)
	return r.srv.RedisCommand(r.T, args...)
}

// age has a key expire earlier than it would, and perhaps others with time.
func (r *damaged) age(key string) (spared bool) {
	r.redis("PEXPIRE", key, strconv.Itoa(1+r.IntN(120_000)), "LT")
	if r.IntN(2) == 0 {
		r.pass(time.Duration(r.IntN(120)) * time.Second)
		return false
	}
	return key != r.keys.lock
}

// truncate takes something away from what a key holds.
func (r *damaged) truncate(key string) {
	switch r.redis("TYPE", key) {
	case "string":
		value := r.redis("GET", key)
		r.redis("SET", key, value[:r.IntN(max(len(value), 1))], "KEEPTTL", "XX")
	case "zset":
		at := strconv.Itoa(r.IntN(3))
		r.redis("ZREMRANGEBYRANK", key, at, at)
	case "hash":
		field := r.field(key)
		if r.IntN(2) == 0 {
			r.redis("HDEL", key, field)
			return
		}
		record := r.redis("HGET", key, field)
		r.redis("HSET", key, field, record[:r.IntN(max(len(record), 1))])
	}
}

func (r *damaged) field(key string) string {
	if r.IntN(2) == 0 {
		return "~"
	}
	return r.redis("HRANDFIELD", key)
}

// answers has one of the scripts answer.
func (r *damaged) answers(script int) {
	ctx, d := r.Context(), r.driver()
	c := r.claim()
	if len(r.claims) > 0 {
		c = r.claims[r.IntN(len(r.claims))]
	}
	switch script {
	case 0:
		_, err := d.Queue(ctx, r.name)
		r.check("queue", err)
	case 1:
		r.check("break", d.Break(ctx, r.name, c.ID))
	case 2:
		r.check("revoke", d.Revoke(ctx, r.name, c.ID))
	case 3:
		r.check("release", d.Release(ctx, c))
	case 4:
		c.Token = 0
		r.check("undo", d.Release(ctx, c))
	case 5:
		k, _ := d.keys.of(r.name)
		_, err := d.scripts.watch.run(ctx, d.conn, k.all(), []string{"-", "1000"})
		r.check("watch", err)
	case 6:
		results, err := d.Renew(ctx, []driver.Claim{c})
		r.check("renew", errors.Join(err, results[0].Err))
	case 7:
		_, _, err := d.Propose(ctx, r.claim(), uint64(time.Now().Add(r.ahead).UnixMicro()))
		r.check("propose", err)
	}
}

// contend asks for the lock, and again when a TTL has passed.
func (r *damaged) contend() {
	c := driver.Claim{Name: r.name, ID: "contender", Weight: 1, Limit: 1, TTL: damagedTTL, Queue: true}
	c, st := r.request(c)
	for range 3 {
		if st.Granted {
			break
		}
		r.pass(damagedTTL/2 - time.Second)
		if c, st = r.request(c); c.Token == 0 { // its key had an early end, too
			c.ID += "-again"
			c, st = r.request(c)
		}
	}
	if !st.Granted {
		r.Errorf("the lock is not free after a TTL: %+v", st)
	}
	next := driver.Claim{Name: r.name, ID: "next", Weight: 1, Limit: 1, TTL: damagedTTL, Queue: true}
	next, st = r.request(next)
	if st.Granted {
		r.Errorf("two have the lock")
	}
	r.check("release", r.driver().Release(r.Context(), c))
	if _, st = r.request(next); !st.Granted {
		r.Errorf("the next in line is not granted: %+v", st)
	}
}
