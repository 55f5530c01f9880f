package redislock

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// crowd is a little more than three runs of a script may work off.
const crowd = 3*budget + 50

// crowded requests the claims of a crowd, and returns them with their tokens.
func crowded(t *testing.T, d *QueueDriver, name string, claim func(i int) driver.Claim) []driver.Claim {
	t.Helper()
	claims := make([]driver.Claim, crowd)
	for i := range claims {
		claims[i], _ = claimed.Request(t, d, claim(i))
	}
	return claims
}

func waiters(name string) func(int) driver.Claim {
	return func(i int) driver.Claim { return mutex(name, "waiter"+strconv.Itoa(i)) }
}

func readers(name string) func(int) driver.Claim {
	return func(i int) driver.Claim {
		c := mutex(name, "reader"+strconv.Itoa(i))
		c.Limit = driver.All
		return c
	}
}

// inLine returns how many claims the server has in line.
func inLine(t *testing.T, srv *servers.Server, name string) int {
	t.Helper()
	n, err := strconv.Atoi(srv.RedisCommand(t, "ZCARD", "holdfast:{"+name+"}:order"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// look runs one script for a lock, which settles it as far as one does.
func look(t *testing.T, d *QueueDriver, name string) {
	t.Helper()
	k, _ := d.keys.of(name)
	if _, err := d.scripts.watch.run(t.Context(), d.conn, k.all(), []string{"-", "1"}); err != nil {
		t.Fatal(err)
	}
}

// A crowd that died is not worked off by whoever comes next in one go, for which time the server would do nothing
// else, and yet it keeps nobody out.
func TestCrowdOfDead(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openNative(t, srv.Addr)
	for i, ask := range []func(name string) (driver.Status, error){
		func(name string) (driver.Status, error) { return d.Request(t.Context(), mutex(name, "next")) },
		func(name string) (driver.Status, error) {
			c := mutex(name, "next")
			c.Queue = false
			return d.Request(t.Context(), c)
		},
		func(name string) (driver.Status, error) {
			token := uint64(time.Now().Add(time.Minute).UnixMicro())
			st, _, err := d.Propose(t.Context(), mutex(name, "next"), token)
			return st, err
		},
	} {
		name := strconv.Itoa(i)
		clock.Set(t, 0)
		dead := crowded(t, d, name, waiters(name))
		clock.Set(t, time.Minute)
		look(t, d, name)
		if n := inLine(t, srv, name); n != crowd-budget {
			t.Errorf("%s: %d of %d dead are left after one script, want %d", name, n, crowd, crowd-budget)
		}
		if _, err := d.Request(t.Context(), dead[crowd-1]); !errors.Is(err, driver.ErrGone) {
			t.Errorf("%s: one whose turn to be taken out has not come is told %v, want ErrGone", name, err)
		}
		if queue, err := d.Queue(t.Context(), name); err != nil || len(queue) > 0 {
			t.Errorf("%s: of the dead %d are shown, %v", name, len(queue), err)
		}
		for name := range d.List(t.Context(), name) {
			t.Errorf("%s is listed, and has no claims", name)
		}
		if st, err := ask(name); err != nil || !st.Granted {
			t.Errorf("%s: who comes next is told %+v, %v", name, st, err)
		}
	}
}

// Who waits behind a crowd that died is told to ask again at once, also by a renewal.
func TestWaiterBehindCrowdOfDead(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openNative(t, srv.Addr)
	crowded(t, d, "jobs", waiters("jobs"))
	last := mutex("jobs", "last")
	last.TTL = time.Hour / 10
	last = waiting(t, d, last)
	clock.Set(t, time.Minute)
	r := sendAll(t, t.Context(), d, driver.Op{Kind: driver.OpRequest, Claim: last})[0]
	if r.Err != nil || !r.Again {
		t.Fatalf("the renewal says %+v; want to ask again", r)
	}
	claimed.Acquire(t, d, last)
}

// A writer's end lets many readers in, all of them, some with each script.
func TestCrowdOfReaders(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openNative(t, srv.Addr)
	for _, end := range []string{"release", "break", "death"} {
		clock.Set(t, 0)
		writer := mutex(end, "writer")
		writer.Weight, writer.Limit = driver.All, driver.All
		writer.TTL = 10 * time.Second // less than the readers have
		writer = claimed.Acquire(t, d, writer)
		crowd := crowded(t, d, end, readers(end))
		last := crowd[len(crowd)-1]
		switch end {
		case "release":
			if err := d.Release(t.Context(), writer); err != nil {
				t.Fatal(err)
			}
		case "break":
			if err := d.Break(t.Context(), end, writer.ID); err != nil {
				t.Fatal(err)
			}
		case "death":
			clock.Set(t, 15*time.Second)
			look(t, d, end)
			k, _ := d.keys.of(end)
			values, err := d.scripts.renew.run(t.Context(), d.conn, k.all(), d.requestArgs(last, 0))
			if _, more := cutMore(values); err != nil || !more {
				t.Errorf("one script let all in: %q, %v", values, err)
			}
		}
		state := strings.Fields(srv.RedisCommand(t, "HGET", "holdfast:{"+end+"}:claims", "~"))
		if n := state[5]; end != "death" && n != strconv.Itoa(len(crowd)) {
			t.Errorf("%s: %s readers are granted when it has returned, want %d", end, n, len(crowd))
		}
		claimed.Acquire(t, d, last)
		queue, err := d.Queue(t.Context(), end)
		waits := func(e driver.Entry) bool { return !e.Granted }
		if err != nil || len(queue) != len(crowd) || slices.ContainsFunc(queue, waits) {
			t.Errorf("%s: of %d readers %d are there, not all of them granted; %v", end, len(crowd), len(queue), err)
		}
	}
}

// Many who have the lock together lose it together when its key is gone: none of them has it back since the others'
// turn to be taken out has not come.
func TestCrowdLosesKey(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	crowd := crowded(t, d, "jobs", readers("jobs"))
	srv.RedisCommand(t, "SET", "holdfast:{jobs}", "theirs", "PX", "60000")
	last := crowd[len(crowd)-1]
	if _, err := d.Request(t.Context(), last); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a renewal: %v, want ErrGone", err)
	}
	if n := inLine(t, srv, "jobs"); n != len(crowd)-budget {
		t.Errorf("%d of %d are left after one script, want %d", n, len(crowd), len(crowd)-budget)
	}
	if err := d.Release(t.Context(), last); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a release: %v, want ErrGone", err)
	}
	next := waiting(t, d, mutex("jobs", "next"))
	if value := srv.RedisCommand(t, "GET", "holdfast:{jobs}"); value != "theirs" {
		t.Errorf("the key holds %q", value)
	}
	srv.RedisCommand(t, "DEL", "holdfast:{jobs}")
	claimed.Acquire(t, d, next)
}

// A long queue is read in pages, and whole.
func TestQueueInPages(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	srv.RedisCommand(t, "SET", "holdfast:{jobs}", "theirs", "PX", "60000")
	var want []string
	for i := range 3 {
		waiter := func(n int) driver.Claim { return mutex("jobs", fmt.Sprintf("waiter%d-%d", i, n)) }
		for _, c := range crowded(t, d, "jobs", waiter) {
			want = append(want, c.ID)
		}
	}
	queue, err := d.Queue(t.Context(), "jobs")
	if err != nil || len(queue) != len(want)+1 || queue[0].ID != ForeignID {
		t.Fatalf("there are %d, want %d after a foreign one; %v", len(queue), len(want), err)
	}
	for i, e := range queue[1:] {
		if e.ID != want[i] {
			t.Fatalf("number %d is %s, want %s", i, e.ID, want[i])
		}
	}
	k, _ := d.keys.of("jobs")
	values, err := d.scripts.queue.run(t.Context(), d.conn, k.all(), []string{queueStart, "10"})
	if err != nil {
		t.Fatal(err)
	}
	if page, err := parsePage(values); err != nil || len(page.claims) != 2*10 {
		t.Errorf("a page of 10 has %d values: %v", len(page.claims), err)
	}
}

// A script that has worked off just as much as it may queues no claim that would not wait: it asks to be run again.
func TestCrowdOfJustTheBudget(t *testing.T) {
	clock := servers.NewClock(t)
	srv := servers.RedisAt(t, clock)
	d := openNative(t, srv.Addr)
	for _, name := range []string{"tried", "proposed"} {
		clock.Set(t, 0)
		for i := range budget {
			claimed.Request(t, d, waiters(name)(i))
		}
		clock.Set(t, time.Minute)
		next := mutex(name, "next")
		next.Queue = false
		if name == "proposed" {
			st, _, err := d.Propose(t.Context(), next, uint64(time.Now().Add(time.Minute).UnixMicro()))
			if err != nil || !st.Granted {
				t.Errorf("who proposes next is told %+v, %v, with %d in line", st, err, inLine(t, srv, name))
			}
			continue
		}
		k, _ := d.keys.of(name)
		answer, err := d.scripts.request.run(t.Context(), d.conn, k.all(), d.requestArgs(next, 0))
		if _, more := cutMore(answer); err != nil || !more || inLine(t, srv, name) > 0 {
			t.Errorf("one script says %q, %v, with %d in line", answer, err, inLine(t, srv, name))
		}
	}
}
