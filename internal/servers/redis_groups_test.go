package servers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

func TestRedisSentinel(t *testing.T) {
	g := servers.RedisSentinel(t)
	first := g.Master(t, nil)
	redis(t, first, "OK", "SET", "k", "v")
	for _, s := range g.Servers {
		eventually(t, "every server has it", func() bool { return s.RedisCommand(t, "GET", "k") == "v" })
	}
	first.Kill(t)

	second := g.Master(t, first)
	redis(t, second, "v", "GET", "k")
	first.Restart(t)
	first.Follow(t, second)
	redis(t, first, "v", "GET", "k")
	g.AwaitReplaceable(t)
	second.Kill(t)
	if third := g.Master(t, second); third == second {
		t.Error("the dead server is the master")
	}
}

func TestRedisCluster(t *testing.T) {
	c := servers.RedisCluster(t, "--cluster-node-timeout", "1000")
	key := "{a}:1"
	slot := c.SlotOf(t, key)
	owner := c.Owner(t, slot)
	for _, s := range c.Masters {
		if answer := s.RedisCommand(t, "SET", key, "v"); (s == owner) != (answer == "OK") {
			t.Errorf("%s answers %q; the owner of the key is %s", s.Addr, answer, owner.Addr)
		}
	}
	for i, s := range c.Masters {
		if s != owner {
			continue
		}
		eventually(t, "its replica has it", func() bool { return c.Replicas[i].RedisCommand(t, "DBSIZE") == "1" })
		owner.Kill(t)
		eventually(t, "its replica serves", func() bool { return c.Replicas[i].RedisCommand(t, "GET", key) == "v" })
	}
}

func TestMoveSlot(t *testing.T) {
	c := servers.RedisCluster(t)
	slot := c.SlotOf(t, "{a}")
	for _, to := range []*servers.Server{c.Masters[0], c.Masters[1], c.Masters[2], c.Masters[0]} {
		from := c.Owner(t, slot)
		for i := range 5 {
			redis(t, from, "OK", "SET", fmt.Sprintf("{a}:%d", i), "v")
		}
		moved := 0
		c.MoveSlot(t, slot, to, func() { moved++ })
		if to != from && moved != 5 {
			t.Errorf("%d keys moved, want 5", moved)
		}
		redis(t, to, "v", "GET", "{a}:4")
		if answer := from.RedisCommand(t, "GET", "{a}:4"); from != to && !strings.HasPrefix(answer, "MOVED") {
			t.Errorf("the former owner answers %q", answer)
		}
	}
}

// eventually waits for what no server announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}
