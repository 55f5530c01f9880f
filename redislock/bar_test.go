package redislock

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A claim whose TTL was made shorter stays barred for the one that it had before: whatever its ID is like, however it
// ends, and although so many others end that what may be forgotten is.
func TestBarredForTheLongestTTL(t *testing.T) {
	clock := servers.NewClock(t)
	b := &barring{T: t, clock: clock, srv: servers.RedisAt(t, clock)}
	b.today = openNative(t, b.srv.Addr)
	drivers := map[string]*QueueDriver{
		"today's": b.today, "batches": batching(t, b.srv.Addr),
	}
	for _, ids := range [][]string{
		{"any"}, {"SERIES_00000000"}, {"SERIES_00000007"}, {"SERIES_00000006", "SERIES_00000007"},
	} {
		for how, shorten := range shortening {
			for what, end := range ends {
				for whose, d := range drivers {
					for _, line := range []bool{false, true} {
						const format = "%v %s, %s, by %s scripts, another in line: %v"
						b.name = fmt.Sprintf(format, ids, how, what, whose, line)
						b.try(ids, shorten, end, d, line)
					}
				}
			}
		}
	}
}

// shortening are the ways in which the TTL of a claim is made shorter.
var shortening = map[string]func(*barring, driver.Claim) (driver.Status, error){
	"renewed": func(b *barring, c driver.Claim) (driver.Status, error) { return b.today.Request(b.Context(), c) },
	"proposed once more": func(b *barring, c driver.Claim) (driver.Status, error) {
		st, _, err := b.today.Propose(b.Context(), c, c.Token)
		return st, err
	},
}

// ends are the ways in which a claim ends.
var ends = map[string]func(*barring, *QueueDriver, driver.Claim) error{
	"expired":  func(*barring, *QueueDriver, driver.Claim) error { return nil },
	"released": func(b *barring, d *QueueDriver, c driver.Claim) error { return d.Release(b.Context(), c) },
	"undone": func(b *barring, d *QueueDriver, c driver.Claim) error {
		c.Token = 0
		return d.Release(b.Context(), c)
	},
	"broken": func(b *barring, d *QueueDriver, c driver.Claim) error { return d.Break(b.Context(), c.Name, c.ID) },
}

type barring struct {
	*testing.T
	srv    *servers.Server
	clock  *servers.Clock
	passed time.Duration
	today  *QueueDriver
	name   string // of the lock
}

func (b *barring) pass(d time.Duration) {
	b.passed += d
	b.clock.Set(b.T, b.passed)
}

// try makes the TTL of a claim shorter and ends it, after claims with other IDs that ended long ago.
func (b *barring) try(
	ids []string, shorten func(*barring, driver.Claim) (driver.Status, error),
	end func(*barring, *QueueDriver, driver.Claim) error, d *QueueDriver, line bool,
) {
	first := mutex(b.name, ids[len(ids)-1])
	for _, id := range ids[:len(ids)-1] {
		c := claimed.Acquire(b, b.today, mutex(b.name, id))
		waiting(b, b.today, mutex(b.name, "behind"))
		b.must(b.today.Release(b.Context(), c))
		b.must(b.today.Release(b.Context(), mutex(b.name, "behind")))
		b.pass(2*first.TTL - time.Second)
	}
	c := claimed.Acquire(b, b.today, first)
	if line {
		waiting(b, d, mutex(b.name, "next"))
	}
	c.TTL = time.Second
	if st, err := shorten(b, c); err != nil || !st.Granted {
		b.Fatalf("%s: %+v, %v", b.name, st, err)
	}
	b.must(end(b, d, c))
	b.pass(5 * time.Second)
	b.comeAndGo(d, 20)
	if _, err := b.today.Request(b.Context(), first); !errors.Is(err, driver.ErrGone) {
		b.Errorf("%s: a late copy of its first request: %v, want ErrGone", b.name, err)
	}
}

// comeAndGo has so many claims begin and end.
func (b *barring) comeAndGo(d *QueueDriver, claims int) {
	b.Helper()
	for i := range claims {
		c := mutex(b.name, fmt.Sprint("other-", i))
		st, err := d.Request(b.Context(), c)
		b.must(err)
		c.Token = st.Token
		b.must(d.Release(b.Context(), c))
	}
}

func (b *barring) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", b.name, err)
	}
}
