package sqltest

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/boottime"
	"github.com/holdfast-go/holdfast/internal/bubble"
)

// Deadlines are on the clock that nobody sets.
func TestDeadlinesCountFromBoot(t *testing.T) {
	path := newFile(t)
	before, ok := boottime.Now()
	if !ok {
		t.Skip("this system has no such clock")
	}
	d, c := open(t, path), mutex("m")
	request(t, d, c, true)
	after, _ := boottime.Now()
	deadline := time.Duration(count(t, path, "SELECT deadline FROM holdfast_claims"))
	if deadline < before+c.TTL || deadline > after+c.TTL {
		t.Errorf("the deadline is %v, want a TTL after an instant from %v to %v", deadline, before, after)
	}
}

// When the wall clock was set back, what it wrote before lies in the future. That changes no grant, no expiry, and no
// order of tokens.
func TestWallClockSetBack(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	year := time.Now().Add(365 * 24 * time.Hour).UnixMicro()
	old := mutex("m")
	old.TTL = 2 * time.Second
	request(t, d, old, true)
	change(t, path, "UPDATE holdfast_claims SET since = ?", year)
	change(t, path, "UPDATE holdfast_fences SET token = ?", year)
	next := mutex("m")
	st := request(t, d, next, false)
	if st.Token <= uint64(year) {
		t.Errorf("token %d after %d", st.Token, year)
	}
	if took := awaitGrant(t, d, next); took > atOnce {
		t.Errorf("the claim took %v to expire", took)
	}
}

// Nor does it have to do with other locks: what is kept of tokens for the next boot follows the clock back.
func TestFloorFollowsTheWallClock(t *testing.T) {
	path := newFile(t)
	d := open(t, path)
	request(t, d, mutex("m"), true)
	hour := time.Now().Add(time.Hour).UnixMicro()
	change(t, path, "UPDATE holdfast_store SET floor = ?", hour)
	request(t, d, mutex("another"), true)
	if floor := count(t, path, "SELECT floor FROM holdfast_store"); floor >= hour-patience.Microseconds() {
		t.Errorf("the floor is %d microseconds from that of an hour ahead", hour-floor)
	}
}

// A client that lives when the wall clock is set notes anew when the machine booted: after the next boot that decides
// how long detached claims are held. In the bubble it is the year 2000.
func TestWallClockSetWhileAClientLives(t *testing.T) {
	if _, ok := boottime.Now(); !ok {
		t.Skip("this system has no such clock")
	}
	defer bubble.Alone()()
	path := filepath.Join(memoryFolder(t), "locks.db")
	d, err := driver.Open(t.Context(), fileURL(path)) // nobody subscribes: what follows claims must not end outside
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := time.UnixMicro(count(t, path, "SELECT began FROM holdfast_store"))
	now, back := time.Now().Round(0), time.Duration(0) // by the wall clock
	synctest.Test(t, func(t *testing.T) {
		back = time.Until(now)
		for range 100 {
			op := driver.Op{Kind: driver.OpRequest, Claim: mutex(driver.NewID())}
			d.Do(t.Context(), []driver.Op{op}, func(_ int, r driver.Result) {
				if r.Err != nil || !r.Status.Granted {
					t.Errorf("a request: %+v", r)
				}
			})
		}
	})
	after := time.UnixMicro(count(t, path, "SELECT began FROM holdfast_store"))
	if noted := before.Sub(after); (noted - back).Abs() > patience {
		t.Errorf("the clock was set back by %v, and the boot is noted %v earlier", back, noted)
	}
}

// After another boot, whatever was held before it is free, and its holder learns that.
func TestOtherBoot(t *testing.T) {
	path := newFile(t)
	d, c := open(t, path), mutex("m")
	held := request(t, d, c, true)
	change(t, path, "UPDATE holdfast_store SET boot = 'another'")
	if queue, err := d.Queue(t.Context(), "m"); err != nil || len(queue) != 0 {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
	change(t, path, "UPDATE holdfast_store SET boot = 'another'")
	c.Token = held.Token
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a renewal: %v, want ErrGone", err)
	}
	if st := request(t, d, mutex("m"), true); st.Token <= held.Token {
		t.Errorf("token %d after %d", st.Token, held.Token)
	}
}

// What was left alone when the machine booted is held for what is left of its time, by the wall clock, and nobody else
// is granted it before. Where that is not known, as the wall clock was wrong, that is its TTL at most.
func TestOtherBootKeepsDetached(t *testing.T) {
	const ofBoot = "UPDATE holdfast_store SET began = began - ?"
	for _, row := range []struct {
		name  string
		note  string // of when the other boot began
		ago   time.Duration
		least time.Duration // that is left
		most  time.Duration
	}{
		{"it began a minute before", ofBoot, time.Minute, longTTL - time.Minute - patience, longTTL - time.Minute},
		{"it began long before", ofBoot, 2 * longTTL, 0, 0},
		{"it began later", ofBoot, -time.Hour, longTTL - patience, longTTL},
		{"nobody knows", "UPDATE holdfast_store SET began = 0 * ?", 0, longTTL - patience, longTTL},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := newFile(t)
			d, c := open(t, path), mutex("m")
			c.Detached = true
			held := request(t, d, c, true)
			change(t, path, row.note, row.ago.Microseconds())
			change(t, path, "UPDATE holdfast_store SET boot = 'another'")
			next := request(t, d, mutex("m"), row.most == 0)
			if next.Token <= held.Token {
				t.Errorf("token %d after %d", next.Token, held.Token)
			}
			if row.most == 0 {
				return
			}
			queue, err := d.Queue(t.Context(), "m")
			if err != nil || len(queue) != 2 || queue[0].ID != c.ID ||
				queue[0].Left < row.least || queue[0].Left > row.most {
				t.Errorf("the queue is %+v, %v; want one that has from %v to %v left", queue, err, row.least, row.most)
			}
			c.Token = held.Token
			request(t, d, c, true)
		})
	}
}

// Another boot that has living clients is no other boot: containers of one machine may see different ones. Then nothing
// that is held is taken for free, whether a client comes or is there.
func TestOtherBootLives(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("clients cannot tell whether others live")
	}
	path := newFile(t)
	d, c := open(t, path), mutex("m")
	other, err := drivertest.Open(t.Context(), fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	request(t, other, c, true)
	change(t, path, "UPDATE holdfast_store SET boot = 'another'")
	_, opened := drivertest.Open(t.Context(), fileURL(path))
	_, requested := d.Request(t.Context(), mutex("m"))
	_, looked := d.Queue(t.Context(), "m")
	for what, err := range map[string]error{"Open": opened, "Request": requested, "Queue": looked} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "another boot id") {
			t.Errorf("%s: %v; want a refusal that says why", what, err)
		}
	}
	if n := count(t, path, "SELECT count(*) FROM holdfast_claims"); n != 1 {
		t.Errorf("%d claims are left of 1", n)
	}
	other.Close()
	request(t, d, mutex("m"), true)
}

// After a boot, clients may come together: none takes another for one of the boot before.
func TestTogetherAfterBoot(t *testing.T) {
	path := newFile(t)
	open(t, path).Close()
	for range 20 {
		change(t, path, "UPDATE holdfast_store SET boot = 'another'")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				d, err := drivertest.Open(t.Context(), fileURL(path))
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				d.Close()
			})
		}
		all.Wait()
	}
}

// A caller that has waited since before sees the end of the boot, too.
func TestWaitSeesOtherBoot(t *testing.T) {
	path := newFile(t)
	d, c := open(t, path), mutex("m")
	request(t, d, mutex("m"), true)
	request(t, d, c, false)
	change(t, path, "UPDATE holdfast_store SET boot = 'another'")
	if _, err := d.Wait(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Wait: %v, want ErrGone", err)
	}
}
