package zklock

import (
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

func TestOwnNodes(t *testing.T) {
	for _, layout := range []Layout{Native, Curator, Kazoo} {
		d := &Driver{format: recordFormat, keys: keyspace{layout: layout}}
		for _, c := range []driver.Claim{
			{Weight: 1, Limit: 1}, {Weight: 1, Limit: driver.All},
			{Weight: driver.All, Limit: driver.All}, {Weight: 2, Limit: 5},
		} {
			c.ID = "an_ID-with-lock-1"
			s, ok := parse(d.node(c, 1500*time.Millisecond) + "0000000042")
			if !ok || s.peer || s.id != c.ID || s.weight != c.Weight || s.limit != c.Limit || s.seq != 42 ||
				s.ttl != 1500*time.Millisecond || s.format != recordFormat {
				t.Errorf("%s: %d of %d became %+v, %v", layout, c.Weight, c.Limit, s, ok)
			}
		}
	}
}

// Of a format that is not known the names tell at least that, so that nobody is let in beside such a claim.
func TestNodesOfLaterFormats(t *testing.T) {
	for _, rest := range []string{".h9", ".h9.x", ".h9.1.2.3.4"} {
		s, ok := parse("_c_an-ID" + rest + "-lock-0000000042")
		if !ok || s.peer || s.id != "an-ID" || s.format != 9 || s.weight != driver.All || s.limit != driver.All {
			t.Errorf("%s: %+v, %v", rest, s, ok)
		}
	}
	for _, name := range []string{"an-ID.h1.1.1.1000", "_c_an-ID", "_c_an-ID.h", "_c_an-ID.g1.1.1.1000"} {
		if s, ok := parse(name + "-lock-0000000042"); ok && !s.peer {
			t.Errorf("%s is taken for one of this package: %+v", name, s)
		}
	}
}

// The server counts in 32 bits, and goes on below zero.
func TestSequenceWrapsAround(t *testing.T) {
	const head = "_c_0123456789abcdef0123456789abcdef-lock-"
	want := []string{head + "2147483646", head + "2147483647", head + "-2147483648", head + "-2147483647"}
	seats := seatsAmong([]string{want[2], want[0], want[3], want[1]})
	if len(seats) != len(want) {
		t.Fatalf("%+v", seats)
	}
	for i, s := range seats {
		if s.node != want[i] {
			t.Errorf("place %d has %s, want %s", i, s.node, want[i])
		}
	}
	if seats[2].seq != math.MinInt32 {
		t.Errorf("sequence %d", seats[2].seq)
	}
}

// A writer of Curator that reads too keeps its place when it stops writing.
func TestDowngrade(t *testing.T) {
	const head = "_c_01234567-89ab-cdef-0123-456789abcdef-"
	seats := seatsAmong([]string{head + "__READ__0000000007", head + "__WRIT__0000000007", head + "__READ__0000000006"})
	if len(seats) != 3 || seats[1].weight != driver.All || seats[2].weight != 1 {
		t.Errorf("%+v", seats)
	}
}

func TestSlack(t *testing.T) {
	for ttl := 100 * time.Millisecond; ttl < time.Minute; ttl += 333 * time.Microsecond {
		session := sessionTime(ttl).Truncate(time.Millisecond) // as it is sent
		if left := session - slack(session); left < ttl || left > ttl+3*time.Millisecond {
			t.Fatalf("a session of %v for claims of %v lets them live for %v", session, ttl, left)
		}
	}
}
