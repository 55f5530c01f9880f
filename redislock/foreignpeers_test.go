package redislock_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// shared is the lock that both have.
const shared = "jobs"

// fewest is how often each must have been inside, or it was starved.
const fewest = 10

// Two clients of ours and two processes that speak as the other library does share a lock: never are two inside, and
// all have their turns.
func TestForeignBesidePeers(t *testing.T) {
	python := servers.Python(t, "redis")
	for _, layout := range foreignLayouts {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			share(t, python, servers.Redis(t), layout)
		})
	}
}

func share(t *testing.T, python string, srv *servers.Server, layout redislock.Layout) {
	together := effort.Pick(3*time.Second, time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), together)
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { visitAsPeer(t, python, srv.Addr, layout, together) })
		all.Go(func() { visitAsOurs(ctx, t, srv, layout) })
	}
	all.Wait()
}

func visitAsPeer(t *testing.T, python, addr string, layout redislock.Layout, together time.Duration) {
	host, port, _ := net.SplitHostPort(addr)
	var said bytes.Buffer
	peer := exec.Command(python, "testdata/peer.py", string(layout), host, port, shared, fmt.Sprint(together.Seconds()))
	peer.Stderr = &said
	out, err := peer.Output()
	visits, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || visits < fewest {
		t.Errorf("peer: %d visits, %v: %s", visits, err, said.String())
	}
	t.Logf("peer: %d visits", visits)
}

func visitAsOurs(ctx context.Context, t *testing.T, srv *servers.Server, layout redislock.Layout) {
	c := holdfast.New(openForeign(t, srv.Addr, layout))
	defer c.Close(context.Background())
	visits := 0
	for ctx.Err() == nil {
		err := c.Mutex(shared).Do(ctx, func(context.Context, *holdfast.Lease) error {
			visits++
			inside := srv.RedisCommand(t, "INCR", "room:"+shared)
			time.Sleep(time.Millisecond + rand.N(2*time.Millisecond)) // the section
			srv.RedisCommand(t, "DECR", "room:"+shared)
			if inside != "1" {
				return fmt.Errorf("%s were inside", inside)
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			t.Errorf("ours: %v", err)
			return
		}
	}
	if visits < fewest {
		t.Errorf("ours: %d visits", visits)
	}
	t.Logf("ours: %d visits", visits)
}
