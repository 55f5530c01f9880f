package redislock_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// hostile are names that break naive keys, patterns or scripts.
var hostile = []string{
	"a", "a ", " a", "a:claims", "{a}", "{a}:claims", "a{b}c", "}", "{", "}{", "*", "?", "[a-c]",
	`\`, `\*`, "'", `"`, "\x00", "\xff\xfe",
	"\r\nDEL x\r\n", "%41", "a%2Fb", "a/b", "ä", "~shared", "~", "holdfast:{a}",
	strings.Repeat("x", 4096), "w {a}:claims",
}

func TestHostileNames(t *testing.T) {
	srv := servers.Redis(t)
	for _, prefix := range []string{"holdfast:", "", "p {x}*:", "*"} {
		t.Run(fmt.Sprintf("prefix %q", prefix), func(t *testing.T) {
			d := openAt(t, srv.Addr, "?prefix="+strings.NewReplacer("%", "%25", " ", "%20").Replace(prefix))
			var held []string
			for _, name := range hostile {
				refused := prefix == "" && strings.Contains(name, "}")
				for range 2 { // the driver may remember the name
					if _, err := d.Queue(t.Context(), name); refused != errors.Is(err, driver.ErrInvalidName) {
						t.Errorf("%q: got %v; names that would split their keys are invalid, others are not", name, err)
					}
				}
				if !refused {
					acquire(t, d, claim(name, long)) // nobody else has it
					held = append(held, name)
				}
			}
			listed := make(map[string]bool)
			for name, err := range d.List(t.Context(), "") {
				if err != nil || listed[name] {
					t.Fatalf("%q: listed twice, or %v", name, err)
				}
				listed[name] = true
			}
			slices.Sort(held)
			if got := slices.Sorted(maps.Keys(listed)); !slices.Equal(got, held) {
				t.Errorf("listed\n%q, want\n%q", got, held)
			}
		})
	}
}

// All keys of a lock lie in one slot of a cluster.
func TestOneSlot(t *testing.T) {
	srv := servers.Redis(t)
	for _, prefix := range []string{"holdfast:", "", "p {x}*:", "p}{"} {
		d := openAt(t, srv.Addr, "?prefix="+strings.ReplaceAll(prefix, " ", "%20"))
		for _, name := range []string{"a", "a/b", "{a", "ä ö"} {
			srv.RedisCommand(t, "FLUSHALL")
			acquire(t, d, claim(name, long))
			enqueue(t, d, claim(name, long))
			slots := make(map[string]bool)
			keys := allKeys(t, srv)
			for _, key := range keys {
				slots[srv.RedisCommand(t, "CLUSTER", "KEYSLOT", key)] = true
			}
			if len(keys) != 4 || len(slots) != 1 {
				t.Errorf("prefix %q, name %q: the keys %q lie in %d slots", prefix, name, keys, len(slots))
			}
		}
	}
}

// allKeys are the keys of all locks.
func allKeys(t *testing.T, srv *servers.Server) []string {
	keys := strings.Split(srv.RedisCommand(t, "KEYS", "*"), "\n")
	return slices.DeleteFunc(keys, func(key string) bool { return strings.HasSuffix(key, "-token") })
}

// lastTokenKey ends the key of the last token of all locks.
const lastTokenKey = "last-token"

// Nothing is left of a lock without an expiry, whatever happens to claims.
func TestEveryKeyExpires(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	check := func(what string) {
		t.Helper()
		for _, key := range allKeys(t, srv) {
			if left := srv.RedisCommand(t, "PTTL", key); strings.HasPrefix(left, "-") || left == "0" {
				t.Errorf("%s: %q has no expiry: %s", what, key, left)
			}
		}
	}
	for _, ttl := range []time.Duration{time.Second, 15 * time.Second, 24 * time.Hour} {
		for _, weight := range []int64{1, driver.All} {
			c := claim(fmt.Sprint("lock ", ttl, weight), ttl)
			c.Weight, c.Limit = weight, driver.All
			first := acquire(t, d, c)
			check("granted")
			acquire(t, d, first)
			check("renewed")
			writer := c
			writer.ID += "w"
			writer.Weight = driver.All
			writer = enqueue(t, d, writer)
			check("queued")
			release(t, d, first)
			check("handed off")
			if err := d.Revoke(t.Context(), c.Name, writer.ID); err != nil {
				t.Fatal(err)
			}
			if err := d.Break(t.Context(), c.Name, writer.ID); err != nil {
				t.Fatal(err)
			}
			check("broken")
			again := c
			again.ID += "p"
			if _, _, err := d.Propose(t.Context(), again, 12345); err != nil {
				t.Fatal(err)
			}
			check("proposed")
			srv.RedisCommand(t, "DEL", "holdfast:{"+driver.EncodeName(c.Name, 0)+"}")
			if _, err := d.Queue(t.Context(), c.Name); err != nil {
				t.Fatal(err)
			}
			check("lost")
		}
	}
	never := claim("never requested", long)
	if err := d.Release(t.Context(), never); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Release: %v", err)
	}
	check("barred")
}

// Each sixteenth ended claim that gets a field sweeps, whatever the clock shows, for a client may keep time with it;
// and wherever the claim was, so that fields do not pile up.
func TestEndedClaimsSweepInTurn(t *testing.T) {
	for what, end := range map[string]func(t *testing.T, d claimed.Driver){
		"alone":  func(t *testing.T, d claimed.Driver) { release(t, d, acquire(t, d, claim("busy", long))) },
		"undone": func(t *testing.T, d claimed.Driver) { c := claim("busy", long); acquire(t, d, c); release(t, d, c) },
		"in line": func(t *testing.T, d claimed.Driver) {
			held := claim("busy", long)
			held.ID = "held"
			acquire(t, d, held)
			next := enqueue(t, d, claim("busy", long))
			release(t, d, next)
		},
	} {
		t.Run(what, func(t *testing.T) {
			srv := servers.Redis(t)
			d := openAt(t, srv.Addr, "")
			const ends = 160 // the last of which has no field yet; another is the state
			for range ends {
				end(t, d)
			}
			stats := srv.RedisCommand(t, "INFO", "commandstats")
			_, calls, _ := strings.Cut(stats, "cmdstat_hscan:calls=")
			calls, _, _ = strings.Cut(calls, ",")
			if want := strconv.Itoa(ends / 16); calls != want {
				t.Errorf("%d ends swept %q times, want %s", ends, calls, want)
			}
		})
	}
}

// The records of ended claims do not pile up.
func TestEndedClaimsAreForgotten(t *testing.T) {
	t.Parallel()
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	const ttl = 100 * time.Millisecond
	use := func() {
		c := acquire(t, d, claim("busy", ttl))
		// An expired claim has ended, too.
		if err := d.Release(t.Context(), c); err != nil && !errors.Is(err, driver.ErrGone) {
			t.Fatalf("Release: %v", err)
		}
	}
	most := 0
	for range 4000 {
		use()
	}
	eventually(t, "ended claims are swept", func() bool {
		use()
		n := number(t, srv.RedisCommand(t, "HLEN", "holdfast:{busy}:claims"))
		most = max(most, n)
		return n < 500
	})
	if most > 3500 {
		t.Errorf("there were up to %d records", most)
	}
}
