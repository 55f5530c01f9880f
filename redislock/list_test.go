package redislock_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Locks that rest, as most do in an old store, cost a list no script: one command each, and one for each page of them.
func TestListAmongLocksThatRest(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	const rest, page = 3000, 1000
	var all sync.WaitGroup
	for part := range 10 {
		all.Go(func() {
			for i := part; i < rest; i += 10 {
				release(t, d, acquire(t, d, claim(fmt.Sprint("rest/", i), long)))
			}
		})
	}
	all.Wait()
	held := acquire(t, d, claim("held", long))
	enqueue(t, d, claim("held", long))
	acquire(t, d, claim("held alone", long))
	if _, err := d.Queue(t.Context(), held.Name); err != nil { // the script is known
		t.Fatal(err)
	}

	for prefix, want := range map[string][]string{"": {"held", "held alone"}, "rest/": nil} {
		srv.RedisCommand(t, "CONFIG", "RESETSTAT")
		var listed []string
		for name, err := range d.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, name)
		}
		commands, scripts := scriptCalls(t, srv)
		if slices.Sort(listed); !slices.Equal(listed, want) {
			t.Errorf("prefix %q: listed %q, want %q", prefix, listed, want)
		}
		if most := rest + 2*rest/page + 50; scripts != len(want) || commands > most {
			t.Errorf("prefix %q: among %d locks that rest a list took %d scripts and %d commands, want %d and up to %d",
				prefix, rest, scripts, commands, len(want), most)
		}
	}
}

// Who looks at no claims sees none, and changes none.
func TestPeekAtNone(t *testing.T) {
	d := openAt(t, servers.Redis(t).Addr, "")
	held, next := acquire(t, d, claim("jobs", long)), enqueue(t, d, claim("jobs", long))
	if seen, err := d.Peek(t.Context(), "jobs", 0); err != nil || len(seen) != 0 {
		t.Errorf("seen are %+v, %v", seen, err)
	}
	acquire(t, d, held)
	release(t, d, held)
	await(t, d, next)
}
