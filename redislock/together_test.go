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

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// together opens a driver that runs each operation as one of many.
func together(t testing.TB, addr string) *Driver {
	t.Helper()
	d, err := driver.Open(t.Context(), "redis://"+addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	d.(*Driver).combiner.always = true
	return d.(*Driver)
}

// What goes together keeps the contract too.
func TestDriverTogether(t *testing.T) {
	addr := servers.Redis(t).Addr
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return together(t, addr) },
		TTL:  time.Second,
	})
}

func (d *Driver) requesting(t testing.TB, c driver.Claim) operation {
	t.Helper()
	k, err := d.begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := d.operation(d.requestScript(c), k, d.requestArgs(c))
	if !ok {
		t.Fatalf("the request of %+v cannot go with others", c)
	}
	return o
}

func (d *Driver) releasing(t testing.TB, c driver.Claim) operation {
	t.Helper()
	k, err := d.keys(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := d.operation(&d.scripts.release, k, releaseArgs(c))
	if !ok {
		t.Fatalf("the release of %+v cannot go with others", c)
	}
	return o
}

// granted requests a claim, which must be granted, and returns it with its token.
func granted(t testing.TB, d driver.Driver, c driver.Claim) driver.Claim {
	t.Helper()
	st, err := d.Request(context.Background(), c)
	if err != nil || !st.Granted {
		t.Fatalf("Request: %+v, %v", st, err)
	}
	c.Token = st.Token
	return c
}

// scenes are operations on locks of their own, whose names begin with prefix, after what makes them interesting.
func scenes(t *testing.T, srv *servers.Server, d *Driver, prefix string) map[string]operation {
	t.Helper()
	ctx := context.Background()
	newer := version(t, srv.Addr, format+1)
	name := func(s string) string { return prefix + s }
	held := func(s string) driver.Claim { return granted(t, d, mutex(name(s), "holder")) }
	all := make(map[string]operation)

	all["free"] = d.requesting(t, mutex(name("free"), "a"))
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
	srv.RedisCommand(t, "RPUSH", "holdfast:{"+name("list")+"}", "x")
	all["a list"] = d.requesting(t, mutex(name("list"), "a"))
	granted(t, newer, mutex(name("newer"), "holder"))
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
	return all
}

// Each of those that go together is answered as if it had gone by itself, whatever comes of the others: a lock whose keys
// hold something else spoils nothing.
func TestTogetherAsAlone(t *testing.T) {
	srv := servers.Redis(t)
	d := version(t, srv.Addr, format)
	differs := regexp.MustCompile(`\d{4,}| script: \w+, on @user_script:\d+\.?`) // tokens, times, and where an error came from
	say := func(values []string, err error) string {
		return differs.ReplaceAllString(fmt.Sprintf("%q %v", values, err), "")
	}
	want := make(map[string]string)
	for name, o := range scenes(t, srv, d, "alone ") {
		want[name] = say(o.script.run(t.Context(), d.conn, o.keys, o.args))
	}
	var names []string
	var b *batch
	for name, o := range scenes(t, srv, d, "together ") {
		names = append(names, name)
		b, _ = d.combiner.join(o)
	}
	if len(names) != most {
		t.Fatalf("%d operations are no full batch, which goes by itself: %d are", len(names), most)
	}
	for at, name := range names {
		reply, ran := b.reply(t.Context(), at)
		if got := say(reply.Values, reply.Err); !ran || got != strings.ReplaceAll(want[name], "alone ", "together ") {
			t.Errorf("%s: together %s, alone %s", name, got, want[name])
		}
	}
	if entries, err := d.Queue(t.Context(), "together passed on"); err != nil || len(entries) != 1 || !entries[0].Granted {
		t.Errorf("the next in line has %+v, %v", entries, err)
	}
}

// What comes at about the same time goes together.
func TestManyGoTogether(t *testing.T) {
	srv := servers.Redis(t)
	d := version(t, srv.Addr, format)
	d.combiner.server.known.Store(proven)
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
	if n, err := strconv.Atoi(found[1]); err != nil || n >= operations {
		t.Errorf("%d operations took %d scripts, %v", operations, n, err)
	}
}

// Where the server refuses a script that adds claims, releases still work, and requests learn the reason.
func TestTogetherRefused(t *testing.T) {
	srv := servers.Redis(t)
	d := together(t, srv.Addr)
	held := granted(t, d, mutex("held", "a"))
	srv.RedisCommand(t, "CONFIG", "SET", "maxmemory", "1")
	request, at := d.combiner.join(d.requesting(t, mutex("new", "a")))
	_, then := d.combiner.join(d.releasing(t, held))
	d.combiner.close(request)
	for _, at := range []int{at, then} {
		if reply, ran := request.reply(t.Context(), at); ran {
			t.Errorf("operation %d ran together: %+v", at, reply)
		}
	}
	if err := d.Release(t.Context(), held); err != nil {
		t.Errorf("Release: %v", err)
	}
	if _, err := d.Request(t.Context(), mutex("new", "a")); !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "memory") {
		t.Errorf("Request: %v", err)
	}
}

// Who gives up does not wait, and the others are answered. When nobody waits any more the script is given up.
func TestTogetherGivesUp(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d := together(t, p.Addr)
	granted(t, d, mutex("known", "a")) // so are the scripts
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	send := func(name string) (b *batch, late *proxy.Held) {
		c := mutex(name, driver.NextID(""))
		late = p.HoldNext([]byte(c.ID))
		d.combiner.join(d.requesting(t, mutex(name+" too", driver.NextID(""))))
		b, _ = d.combiner.join(d.requesting(t, c))
		d.combiner.close(b)
		<-late.Caught()
		if reply, ran := b.reply(gone, 0); !ran || !errors.Is(reply.Err, context.Canceled) {
			t.Errorf("who gave up is told %+v, %v", reply, ran)
		}
		return b, late
	}
	b, late := send("one stays")
	late.Deliver(t)
	if reply, ran := b.reply(t.Context(), 1); !ran || reply.Err != nil {
		t.Errorf("who stayed is told %+v, %v", reply, ran)
	}
	b, _ = send("none stays")
	if reply, ran := b.reply(gone, 1); !ran || !errors.Is(reply.Err, context.Canceled) {
		t.Errorf("who gave up last is told %+v, %v", reply, ran)
	}
	select {
	case <-b.done:
	case <-time.After(10 * time.Second):
		t.Error("the script still waits for its answer")
	}
}

// Who gives up while it waits for others to join, and none does, is told so.
func TestGivesUpAlone(t *testing.T) {
	d := version(t, servers.Redis(t).Addr, format)
	d.combiner.server.known.Store(proven)
	d.combiner.busy.Add(1) // somebody else is under way
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // either of two things may be noticed first
		if _, err := d.combiner.run(gone, d.requesting(t, mutex("jobs", driver.NextID("")))); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// On a server that takes the keys of one slot only, each operation goes by itself from then on.
func TestTogetherInOneSlot(t *testing.T) {
	srv := servers.RedisCluster(t).Masters[0]
	d := together(t, srv.Addr)
	var here []driver.Claim
	for i := 0; len(here) < 2; i++ {
		c := mutex("lock "+strconv.Itoa(i), "a")
		if st, err := d.Request(t.Context(), c); err == nil {
			c.Token = st.Token
			here = append(here, c)
		}
	}
	d.combiner.server.known.Store(proven)
	b, first := d.combiner.join(d.releasing(t, here[0]))
	_, second := d.combiner.join(d.releasing(t, here[1]))
	d.combiner.close(b)
	for _, at := range []int{first, second} {
		if reply, ran := b.reply(t.Context(), at); ran {
			t.Errorf("release %d ran together: %+v", at, reply)
		}
	}
	if d.combiner.server.isProven(d.conn, d.opts.Prefix) {
		t.Error("it goes on asking")
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
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, Username: user, Password: user, ForceSingleClient: true, DisableCache: true, DisableRetry: true})
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
	for name, tt := range map[string]struct {
		conn Conn
		want int32
	}{
		"one":              {conn, proven},
		"the same twice":   {spread{conn, []Conn{dialTo(t, p.Addr, "")}}, proven},
		"two":              {spread{conn, []Conn{dialTo(t, servers.Redis(t).Addr, "")}}, disproved},
		"one that is mute": {dialTo(t, srv.Addr, "blind"), disproved},
	} {
		t.Run(name, func(t *testing.T) {
			var o oneServer
			o.ask(tt.conn, DefaultPrefix)
			if got := o.known.Load(); got != tt.want || o.isProven(tt.conn, DefaultPrefix) != (tt.want == proven) {
				t.Errorf("it is %d, want %d", got, tt.want)
			}
		})
	}
	t.Run("one that is away", func(t *testing.T) {
		away := servers.Redis(t)
		conn := dialTo(t, away.Addr, "")
		away.Kill(t)
		var o oneServer
		if o.ask(conn, DefaultPrefix); o.known.Load() != unknown {
			t.Errorf("it is %d, want %d", o.known.Load(), unknown)
		}
		away.Restart(t)
		for end := time.Now().Add(10 * time.Second); o.known.Load() == unknown && time.Now().Before(end); {
			o.ask(conn, DefaultPrefix) // the client connects again
		}
		if !o.isProven(conn, DefaultPrefix) {
			t.Errorf("it is %d once it is back, want %d", o.known.Load(), proven)
		}
	})
}
