package quorum_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/quorum"
)

// Who opens a quorum learns for how long too few of its nodes can vote, from the beginning and not
// longer than that is so.
func TestNewNodesAreNotable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := parts{newPart(), newPart(), newPart()}
		d := ps.client(t)
		notices := func(want ...string) {
			t.Helper()
			told, _ := driver.Check(context.Background(), d, true)
			if len(want) == 0 && len(told) == 0 {
				return
			}
			if len(told) != 1 || told[0].Level != driver.Warning || told[0].Advice == "" {
				t.Fatalf("told %+v, want %q", told, want)
			}
			for _, part := range want {
				if !strings.Contains(told[0].Fact, part) {
					t.Errorf("told %q, want %q", told[0].Fact, part)
				}
			}
		}
		notices("3 of 3 servers", "another "+ttl.String())
		time.Sleep(ttl / 2)
		ps[2].restart()
		notices("3 of 3 servers", "another "+(ttl/2).String())
		ps[1].hang()
		notices("3 of 3 servers") // as far as it is known
		ps[1].goOn()
		time.Sleep(ttl / 2)
		notices() // two of the three can vote
		ps[0].restart()
		notices("2 of 3 servers", "another ")
		findings, err := driver.Check(context.Background(), d, false)
		if n := len(findings); err != nil || !strings.Contains(findings[n-1].Fact, "2 of 3 servers") {
			t.Errorf("the examination says %+v, %v", findings, err)
		}
	})
}

// Where that is wanted by name, nodes vote as soon as they are there; tokens grow all the same.
func TestUnsafeFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := parts{newPart(), newPart(), newPart()}
		d := quorumOf(t, []driver.Driver{ps[0], ps[1], ps[2]}, &quorum.Options{MaxTTL: ttl, UnsafeFresh: true})
		told, _ := driver.Check(context.Background(), d, true)
		if len(told) != 1 || told[0].Level != driver.Unsafe || !strings.Contains(told[0].Fact, "unsafefresh") {
			t.Errorf("told %+v", told)
		}
		began := time.Now()
		last := uint64(0)
		for i := range 6 {
			held := acquire(t, d, try(claim("jobs")))
			if held.Token <= last {
				t.Fatalf("token %d after %d", held.Token, last)
			}
			last = held.Token
			release(t, d, held)
			synctest.Wait()
			ps[i%3].restart()
		}
		if took := time.Since(began); took > ttl/2 {
			t.Errorf("that took %v", took)
		}
	})
}
