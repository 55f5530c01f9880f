package redislock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
)

// batching opens a driver of which each operation goes with another one in a script, if it can go with others at all.
func batching(t testing.TB, addr string) *QueueDriver {
	t.Helper()
	d, err := driver.Open(t.Context(), "redis://"+addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	n := nativeOf(d)
	n.server.learn(true, time.Hour)
	return &QueueDriver{drivertest.NewFacade(paired{d}), inner{n}}
}

// A paired driver has an operation that would be alone go together with the release of a claim that there never was.
type paired struct{ driver.Driver }

func (p paired) Unwrap() driver.Driver { return p.Driver }

func (p paired) Do(ctx context.Context, batch []driver.Op, done func(int, driver.Result)) {
	other := driver.Op{Kind: driver.OpRelease, Claim: mutex("another lock", "nobody's")}
	other.Claim.Token = 1
	p.Driver.Do(ctx, append(slices.Clip(batch), other), func(i int, r driver.Result) {
		if i < len(batch) {
			done(i, r)
		}
	})
}

// What goes together keeps the contract too.
func TestDriverInBatches(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	addr := servers.Redis(t).Addr
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return batching(t, addr).Facade },
		TTL:  time.Second,
	})
}

func (d *QueueDriver) requesting(t testing.TB, c driver.Claim) operation {
	t.Helper()
	k, err := d.begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d.operation(d.requestScript(c), k, d.requestArgs(c, 0))
}

func (d *QueueDriver) releasing(t testing.TB, c driver.Claim) operation {
	t.Helper()
	k, err := d.keys.of(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	return d.operation(&d.scripts.release, k, d.releaseArgs(c))
}

func (d *QueueDriver) renewing(t testing.TB, c driver.Claim) operation {
	t.Helper()
	k, err := d.begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d.operation(&d.scripts.renew, k, d.requestArgs(c, 0))
}

func (d *QueueDriver) proposing(t testing.TB, c driver.Claim, token uint64) operation {
	t.Helper()
	k, args, err := d.proposal(t.Context(), c, token)
	if err != nil {
		t.Fatal(err)
	}
	return d.operation(&d.scripts.propose, k, args)
}

// scenes are operations on locks of their own, whose names begin with prefix, after what makes them interesting.
func scenes(t *testing.T, srv *servers.Server, d *QueueDriver, prefix string) map[string]operation {
	t.Helper()
	ctx := context.Background()
	name := func(s string) string { return prefix + s }
	held := func(s string) driver.Claim { return claimed.Acquire(t, d, mutex(name(s), "holder")) }
	all := make(map[string]operation)

	all["free"] = d.requesting(t, mutex(name("free"), "a"))
	maps.Copy(all, loneScenes(t, d, name))
	released := func(s string) driver.Claim {
		c := held(s)
		if err := d.Release(ctx, c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	all["used before"] = d.requesting(t, mutex(released("used before").Name, "a"))
	all["released"] = d.requesting(t, mutex(released("released").Name, "holder"))
	shared := driver.Claim{Name: name("shared"), ID: "a", Weight: 1, Limit: 3, TTL: time.Minute, Queue: true}
	all["of other terms"] = d.requesting(t, shared)
	held("taken")
	all["taken"] = d.requesting(t, mutex(name("taken"), "a"))
	held("tried")
	try := mutex(name("tried"), "a")
	try.Queue = false
	all["tried"] = d.requesting(t, try)
	for what, key := range map[string]func(keys) string{
		"a list":            func(k keys) string { return k.lock },
		"a list for claims": func(k keys) string { return k.claims },
	} {
		all[what] = d.requesting(t, mutex(name(what), "a"))
		k, err := d.keys.of(name(what))
		if err != nil {
			t.Fatal(err)
		}
		srv.RedisCommand(t, "RPUSH", key(k), "x")
	}
	rewrite(t, srv, d, held("newer").Name, format+1)
	all["of a newer format"] = d.requesting(t, mutex(name("newer"), "a"))
	all["end"] = d.releasing(t, held("end"))
	last := held("passed on")
	if _, err := d.Request(ctx, mutex(last.Name, "next")); err != nil {
		t.Fatal(err)
	}
	all["end, passed on"] = d.releasing(t, last)
	wrong := held("wrong token")
	wrong.Token++
	all["end of another token"] = d.releasing(t, wrong)
	all["end again"] = d.releasing(t, released("end again"))

	all["renewed"] = d.renewing(t, held("renewed"))
	longer := held("renewed for longer")
	longer.TTL *= 2
	all["renewed for longer"] = d.renewing(t, longer)
	other := held("renewed under another token")
	other.Token++
	all["renewed under another token"] = d.renewing(t, other)
	all["renewed too late"] = d.renewing(t, released("renewed too late"))
	contended := held("renewed, contended")
	all["renewed, contended"] = d.renewing(t, contended)
	waits := mutex(contended.Name, "next")
	st, err := d.Request(ctx, waits)
	if err != nil {
		t.Fatal(err)
	}
	waits.Token = st.Token
	all["renewed, waits"] = d.renewing(t, waits)

	now := uint64(time.Now().UnixMicro())
	all["proposed"] = d.proposing(t, mutex(name("proposed"), "a"), now)
	all["proposed, of other terms"] = d.proposing(t, driver.Claim{
		Name: name("proposed too"), ID: "a", Weight: 1, Limit: 3, TTL: time.Minute,
	}, now)
	held("proposed, taken")
	all["proposed, taken"] = d.proposing(t, mutex(name("proposed, taken"), "a"), now)
	all["proposed too late"] = d.proposing(t, released("proposed too late"), now)
	all["proposed for the future"] = d.proposing(t, mutex(name("proposed for the future"), "a"), now+2e9)
	return all
}

// Each of those that go together is answered as if it had gone by itself, whatever comes of the others: a lock whose
// keys hold something else spoils nothing.
func TestBatchAsAlone(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	// Tokens, times, in which life the server is, and where an error came from.
	differs := regexp.MustCompile(`\d{4,}| life \w+ \d+| script: \w+, on @user_script:\d+\.?`)
	say := func(values []string, err error) string {
		return differs.ReplaceAllString(fmt.Sprintf("%q %v", values, err), "")
	}
	want := make(map[string]string)
	for name, o := range scenes(t, srv, d, "alone ") {
		want[name] = say(o.script.run(t.Context(), d.conn, o.keys, o.args))
	}
	for name, part := range map[string]string{
		"a list": "WRONGTYPE", "a list for claims": "WRONGTYPE", "of a newer format": "HOLDFASTVERSION",
	} {
		if !strings.Contains(want[name], part) {
			t.Errorf("%s: alone %s, want %s", name, want[name], part)
		}
	}
	var names []string
	var ops []operation
	for name, o := range scenes(t, srv, d, "together ") {
		if o.group == "" {
			t.Fatalf("%s cannot go with others", name)
		}
		names, ops = append(names, name), append(ops, o)
	}
	for some := range slices.Chunk(ops, mostInBatch) {
		keys, args, places := writeBatch(len(some), func(at int) *operation { return &some[at] })
		together := d.scripts.batch.on(len(keys))
		values, err := together.run(t.Context(), d.conn, keys, args)
		for i, reply := range readBatch(values, err, places) {
			want := strings.ReplaceAll(want[names[i]], "alone ", "together ")
			if got := say(reply.Values, reply.Err); got != want {
				t.Errorf("%s: together %s, alone %s", names[i], got, want)
			}
		}
		names = names[len(some):]
	}
	entries, err := d.Queue(t.Context(), "together passed on")
	if err != nil || len(entries) != 1 || !entries[0].Granted {
		t.Errorf("the next in line has %+v, %v", entries, err)
	}
}

// loneScenes are those of claims that are lone, or would be.
func loneScenes(t *testing.T, d *QueueDriver, name func(string) string) map[string]operation {
	t.Helper()
	first := func(c driver.Claim) operation {
		k, err := d.begin(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return d.operation(d.requestScript(c), k, d.requestArgs(c, driver.TryFirst))
	}
	lone := func(s string) (c driver.Claim) {
		c = mutex(name(s), "holder")
		ops := []driver.Op{{Kind: driver.OpRequest, Claim: c, Try: driver.TryFirst}}
		d.Do(t.Context(), ops, func(_ int, r driver.Result) {
			if c.Token = r.Status.Token; r.Err != nil || !r.Status.Granted {
				t.Fatalf("%s: %+v", s, r)
			}
		})
		return c
	}
	all := make(map[string]operation)
	for _, s := range []string{"new", "also new"} {
		all[s] = first(mutex(name(s), "a"))
	}
	used := claimed.Acquire(t, d, mutex(name("new, of a lock that was used"), "holder"))
	if err := d.Release(t.Context(), used); err != nil {
		t.Fatal(err)
	}
	all["new, of a lock that was used"] = first(mutex(used.Name, "a"))
	all["new, after its end"] = first(mutex(undone(t, d, name("new, after its end")), "a"))
	all["new, of a lone lock"] = first(mutex(lone("new, of a lone lock").Name, "a"))
	all["lone, repeated"] = d.requesting(t, mutex(lone("lone, repeated").Name, "holder"))
	for _, s := range []string{"lone, released", "another that is lone, released"} {
		all[s] = d.releasing(t, lone(s))
	}
	again := lone("lone, released again")
	if err := d.Release(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	all["lone, released again"] = d.releasing(t, again)
	wrong := lone("lone, released under another token")
	wrong.Token++
	all["lone, released under another token"] = d.releasing(t, wrong)
	all["lone, renewed"] = d.renewing(t, lone("lone, renewed"))
	return all
}

// undone has the request of a claim "a" of this lock come after its undo.
func undone(t *testing.T, d *QueueDriver, name string) string {
	t.Helper()
	if err := d.Release(t.Context(), mutex(name, "a")); !errors.Is(err, driver.ErrGone) {
		t.Fatal(err)
	}
	return name
}

// What comes at about the same time goes together.
func TestBatchOfManyClaims(t *testing.T) {
	srv := servers.Redis(t)
	d := proven(t, srv.Addr)
	const goroutines, cycles = 32, 20
	srv.RedisCommand(t, "CONFIG", "RESETSTAT")
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			id := ""
			for range cycles {
				id = driver.NextID(id)
				st, err := d.Request(t.Context(), mutex("lock "+strconv.Itoa(g), id))
				if err != nil || !st.Granted {
					t.Errorf("Request: %+v, %v", st, err)
					return
				}
				c := mutex("lock "+strconv.Itoa(g), id)
				c.Token = st.Token
				if err := d.Release(t.Context(), c); err != nil {
					t.Errorf("Release: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	stats := srv.RedisCommand(t, "INFO", "commandstats")
	found := regexp.MustCompile(`cmdstat_evalsha:calls=(\d+)`).FindStringSubmatch(stats)
	if found == nil {
		t.Fatalf("no script ran: %s", stats)
	}
	const operations = 2 * goroutines * cycles
	if n, err := strconv.Atoi(found[1]); err != nil || n > operations/2 {
		t.Errorf("%d operations took %d scripts, %v", operations, n, err)
	}
}

// A spread is a Conn that keeps its keys on several servers.
type spread struct {
	Conn
	others []Conn
}

func (s spread) at(cmd Command) Conn {
	sum := 0
	for _, b := range []byte(cmd.Keys[0]) {
		sum += int(b)
	}
	return slices.Concat([]Conn{s.Conn}, s.others)[sum%(len(s.others)+1)]
}

func (s spread) DoMany(ctx context.Context, cmds []Command) []Reply {
	replies := make([]Reply, len(cmds))
	for i, cmd := range cmds {
		replies[i].Values, replies[i].Err = s.at(cmd).Do(ctx, cmd)
	}
	return replies
}

func dialTo(t *testing.T, addr, user string) Conn {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, Username: user, Password: user,
		ForceSingleClient: true, DisableCache: true, DisableRetry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return rueidisConn{client: client}
}

// Operations go together only where one server is known to keep all keys.
func TestOneServer(t *testing.T) {
	srv := servers.Redis(t)
	srv.RedisCommand(t, "ACL", "SETUSER", "blind", "on", ">blind", "~holdfast:*", "&*", "+@all", "-info")
	p := proxy.New(t, srv.Addr)
	conn := dialTo(t, srv.Addr, "")
	behind := func(c Conn) *oneServer { return &oneServer{conn: c, prefix: defaultPrefix, open: t.Context()} }
	for name, tt := range map[string]struct {
		conn Conn
		want bool
	}{
		"one":              {conn, true},
		"the same twice":   {spread{conn, []Conn{dialTo(t, p.Addr, "")}}, true},
		"two":              {spread{conn, []Conn{dialTo(t, servers.Redis(t).Addr, "")}}, false},
		"one that is mute": {dialTo(t, srv.Addr, "blind"), false},
	} {
		t.Run(name, func(t *testing.T) {
			o := behind(tt.conn)
			if o.ask(); o.isProven() != tt.want {
				t.Errorf("that it is one server is proven: %v, want %v", !tt.want, tt.want)
			}
		})
	}
	t.Run("one that is away", func(t *testing.T) {
		away := servers.Redis(t)
		o := behind(dialTo(t, away.Addr, ""))
		away.Kill(t)
		if o.ask(); o.proven.Load() {
			t.Error("it is proven without an answer")
		}
		away.Restart(t)
		for end := time.Now().Add(2 * time.Minute); !o.proven.Load() && time.Now().Before(end); {
			o.ask() // the client connects again
		}
		if !o.proven.Load() {
			t.Error("it is not proven once it has answered")
		}
		away.Kill(t)
		if o.ask(); o.proven.Load() {
			t.Error("it is proven though it may be another one by now")
		}
	})
	t.Run("one that becomes two", func(t *testing.T) {
		o := behind(conn)
		o.ask()
		o.conn = spread{conn, []Conn{dialTo(t, servers.Redis(t).Addr, "")}}
		if o.isProven(); o.asking.Load() {
			t.Error("it is asked again at once")
		}
		o.learn(true, -time.Second) // a minute passes
		o.isProven()
		for end := time.Now().Add(2 * time.Minute); o.isProven() && time.Now().Before(end); {
			runtime.Gosched()
		}
		if o.isProven() {
			t.Error("it is not asked again")
		}
	})
}

// Of several operations on one lock in a batch each sees what those before it have done, and tokens grow.
func TestBatchOnOneLock(t *testing.T) {
	d := batching(t, servers.Redis(t).Addr)
	held := claimed.Acquire(t, d, mutex("jobs", "before"))
	ops := []operation{d.releasing(t, held)}
	for at := 1; at < mostInBatch-1; at++ {
		ops = append(ops, d.requesting(t, mutex("jobs", "claim-"+strconv.Itoa(at))))
	}
	ops = append(ops, d.requesting(t, mutex("jobs", "claim-1")))
	keys, args, places := writeBatch(len(ops), func(at int) *operation { return &ops[at] })
	together := d.scripts.batch.on(len(keys))
	values, err := together.run(t.Context(), d.conn, keys, args)
	replies := readBatch(values, err, places)
	last := held.Token
	var first driver.Status
	for at := 1; at < mostInBatch-1; at++ {
		st, err := parseStatus(replies[at].Values, time.Second)
		if replies[at].Err != nil || err != nil || st.Token <= last || st.Granted != (at == 1) {
			t.Errorf("claim %d: %+v, %v, %v; the token before is %d", at, st, replies[at].Err, err, last)
		}
		if last = st.Token; at == 1 {
			first = st
		}
	}
	st, err := parseStatus(replies[mostInBatch-1].Values, time.Second)
	if err != nil || st.Token != first.Token || !st.Granted {
		t.Errorf("a claim that is repeated: %+v, %v; it was %+v", st, err, first)
	}
}

// When the answer is lost, all learn that the outcome is not known, and asking again tells it.
func TestBatchUnanswered(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d := proven(t, p.Addr)
	batch := requests(2)
	succeed(t, sendAll(t, t.Context(), d, areGranted(t, batch, sendAll(t, t.Context(), d, batch...))...))
	for i := range batch { // the scripts are known
		batch[i].Claim.ID = driver.NextID("")
	}
	p.DropNextReplyAfter([]byte(batch[1].Claim.ID))
	for at, r := range sendAll(t, t.Context(), d, batch...) {
		if r.Err == nil || driver.IsAnswer(r.Err) || errors.Is(r.Err, driver.ErrUnsent) {
			t.Errorf("operation %d: %+v", at, r)
		}
	}
	for _, op := range batch {
		before, err := d.Queue(t.Context(), op.Claim.Name)
		if err != nil || len(before) != 1 {
			t.Fatalf("the queue has %+v, %v", before, err)
		}
		if again := claimed.Acquire(t, d, op.Claim); again.Token != before[0].Claim.Token {
			t.Errorf("the claim has token %d, and was granted %d", again.Token, before[0].Claim.Token)
		}
	}
}

// A server that refuses is not known to be the same as another, whichever of them is asked first.
func TestSameServer(t *testing.T) {
	a, b, refused := Reply{Values: []string{"a"}}, Reply{Values: []string{"b"}}, Reply{Err: ReplyError("LOADING")}
	lost := Reply{Err: errors.New("connection reset")}
	for _, row := range []struct {
		replies          []Reply
		proven, answered bool
	}{
		{[]Reply{a, a}, true, true},
		{[]Reply{a, b}, false, true},
		{[]Reply{refused, a}, false, true},
		{[]Reply{a, refused}, false, true},
		{[]Reply{refused, lost}, false, false},
	} {
		if proven, answered := sameServer(row.replies); proven != row.proven || answered != row.answered {
			t.Errorf("%v: proven %t, answered %t", row.replies, proven, answered)
		}
	}
}
