package zklock_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/zklock"
)

// What says that a value was removed goes by itself when no copy of an earlier request can come any more, or by Reap
// where the process ended before that; the end of a session is no reason. A value stays.
func TestRemovedValuesGo(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t)
	addr, seen := server.Addr, new(tap)
	d, other := open(t, nil, addr), raw(t, addr)
	set := func(d *zklock.Driver, name, text string, ttl time.Duration) {
		t.Helper()
		c := acquire(t, d, claim(name, ttl))
		for i, text := range []string{"before", text} {
			v := driver.Value{Text: text, Token: c.Token << 8, Set: time.UnixMicro(int64(i + 1))}
			if err := d.SetValue(limit(t), c, v); err != nil {
				t.Fatal(err)
			}
		}
		release(t, d, c)
	}
	exists := func(name string) bool {
		t.Helper()
		there, _, err := other.Exists("/holdfast/.values/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	set(d, "kept", "text", long)
	set(d, "removed", "", time.Second)
	set(open(t, seen.options(), addr), "outlives", "", time.Second)
	seen.closeSessions(t, server)
	until(t, "the nodes of removed values go", func() bool { return !exists("removed") && !exists("outlives") })

	dying := open(t, nil, addr)
	set(dying, "left", "", long)
	if err := dying.Close(); err != nil {
		t.Fatal(err)
	}
	removed, err := d.Reap(limit(t), 0)
	if want := (driver.Leftover{Kind: "removed value", Name: "left"}); err != nil || !slices.Contains(removed, want) {
		t.Errorf("removed %v, %v; want %v", removed, err, want)
	}
	if !exists("kept") || exists("left") {
		t.Errorf("kept is there: %v, left is there: %v", exists("kept"), exists("left"))
	}
}
