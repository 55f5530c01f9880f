package peers

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/contender"
	"github.com/holdfast-go/holdfast/internal/interop"
	"github.com/holdfast-go/holdfast/internal/servers"

	_ "github.com/holdfast-go/holdfast/redislock"
)

// published are the libraries that follow the published pattern SET key value NX PX, and how their keys begin.
var published = []struct {
	contender.Contender
	keys string
}{
	{contender.Redsync(), ""},
	{contender.Redislock(), ""},
	{contender.Rueidislock(), "rueidislock:0:"},
}

// often is how often each must have been inside. They ask now and then, so on a busy machine few of their questions
// come when the lock is free.
const often = 3

// Two processes of ours and two of each library's share a lock: never two are inside, and all have their turns.
func TestPublishedPattern(t *testing.T) {
	for _, peer := range published {
		t.Run(peer.Name, func(t *testing.T) {
			t.Parallel()
			addr := servers.Redis(t).Addr
			for _, w := range interop.Contend(t, interop.Writing, often,
				interop.Client{Program: interop.Self("ours", "ours"), Args: []string{addr, peer.keys + "jobs"}},
				interop.Client{Program: interop.Self(peer.Name, peer.Name), Args: []string{addr, "jobs"}},
			) {
				t.Error(w)
			}
		})
	}
}

// The same beside redlock for Node, on one server.
func TestNodeRedlock(t *testing.T) {
	t.Parallel()
	args := []string{servers.Redis(t).Addr, "jobs"}
	for _, w := range interop.Contend(t, interop.Writing, often,
		interop.Client{Program: interop.Self("ours", "ours"), Args: args},
		interop.Client{Program: nodeRedlock, Args: args},
	) {
		t.Error(w)
	}
}

// TestPeer is a process that the tests of others start.
func TestPeer(t *testing.T) {
	kind, args := interop.Kind(t)
	if kind == "ours" {
		interop.RunPeer(t, pausing(ours(t, args[0], args[1])), nil)
		return
	}
	for _, peer := range published {
		if peer.Name == kind {
			interop.RunPeer(t, pausing(theirs(t, args[0], args[1], peer.Contender)), nil)
			return
		}
	}
	t.Fatalf("there is no peer %q", kind)
}

// pausing pauses after each section, so that the lock is free now and then.
func pausing(section interop.Guard) interop.Guard {
	return func(ctx context.Context, f func()) error {
		err := section(ctx, f)
		time.Sleep(rand.N(30 * time.Millisecond))
		return err
	}
}

func ours(t *testing.T, addr, key string) interop.Guard {
	c, err := holdfast.Open(t.Context(), "redis://"+addr+"?prefix=")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	m := c.Mutex(key)
	return func(ctx context.Context, f func()) error {
		return m.Do(ctx, func(context.Context, *holdfast.Lease) error { f(); return nil })
	}
}

func theirs(t *testing.T, addr, name string, peer contender.Contender) interop.Guard {
	c, err := peer.Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return func(ctx context.Context, f func()) error {
		// rueidislock gives a lock back when the context that it was asked with ends, which here is in the middle of f.
		wait, giveUp := context.WithCancel(context.WithoutCancel(ctx))
		defer giveUp()
		keep := context.AfterFunc(ctx, giveUp)
		held, err := c.Lock(wait, name)
		for ; err != nil; held, err = c.Lock(wait, name) { // it gave up
			if ctx.Err() != nil {
				return err
			}
		}
		if keep() {
			f()
		}
		return held.Unlock(context.Background())
	}
}
