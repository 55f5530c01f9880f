package goredis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/redislock/goredis"
)

func addrs(group []*servers.Server) (list []string) {
	for _, s := range group {
		list = append(list, s.Addr)
	}
	return list
}

func openCluster(t testing.TB, c *servers.ClusterOfRedis, opts *redislock.Options) driver.Driver {
	return openOn(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs(c.Masters)}), opts)
}

func openOn(t testing.TB, client redis.UniversalClient, opts *redislock.Options) driver.Driver {
	t.Helper()
	d, err := goredis.New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); client.Close() })
	return d
}

func TestDriverOnCluster(t *testing.T) {
	c := servers.RedisCluster(t)
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openCluster(t, c, nil) },
		TTL:  time.Second, // a busy machine stalls for longer than the shortest
	})
}

// untilAnswered requests a claim until the backend answers, as a client does.
func untilAnswered(t *testing.T, d driver.Driver, c driver.Claim) driver.Status {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; driver.Sleep(t.Context(), 20*time.Millisecond) {
		st, err := d.Request(t.Context(), c)
		if err == nil {
			return st
		}
		if errors.Is(err, driver.ErrGone) || errors.Is(err, driver.ErrRefused) || time.Now().After(limit) {
			t.Fatalf("Request: %v", err)
		}
	}
}

// A client that follows sentinels finds what was replicated on the new master, and waits for pushes from there.
func TestSentinels(t *testing.T) {
	g := servers.RedisSentinel(t)
	open := func(opts *redislock.Options) driver.Driver {
		return openOn(t, redis.NewFailoverClient(&redis.FailoverOptions{MasterName: g.Name, SentinelAddrs: addrs(g.Sentinels)}), opts)
	}
	d, other := open(&redislock.Options{Replicas: 2}), open(nil)
	held := driver.Claim{Name: "jobs", ID: "first", Weight: 1, Limit: 1, TTL: 30 * time.Second, Queue: true}
	held.Token = untilAnswered(t, d, held).Token
	g.Master(t, nil).Kill(t)
	if st := untilAnswered(t, other, held); !st.Granted || st.Token != held.Token {
		t.Errorf("after the failover: %+v, want the token %d", st, held.Token)
	}
	next := held
	next.ID, next.Token = "next", 0
	next.Token = untilAnswered(t, other, next).Token
	if err := other.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if st, err := driver.Wait(t.Context(), other, next); err != nil || !st.Granted {
		t.Errorf("the next in line is told %+v, %v", st, err)
	}
}

// Slots that move cost nobody an error, with replicas that must confirm or without.
func TestSlotsMove(t *testing.T) {
	c := servers.RedisCluster(t)
	plain, strict := openCluster(t, c, nil), openCluster(t, c, &redislock.Options{Replicas: 1})
	slot := c.SlotOf(t, "holdfast:{jobs}")
	for i := range 6 {
		for j, d := range []driver.Driver{plain, strict} {
			claim := driver.Claim{Name: "jobs", ID: fmt.Sprintf("claim-%d-%d", i, j), Weight: 1, Limit: 1, TTL: 30 * time.Second}
			st, err := d.Request(t.Context(), claim)
			if err != nil || !st.Granted {
				t.Fatalf("Request: %+v, %v", st, err)
			}
			c.MoveSlot(t, slot, c.Masters[(i+j)%3], nil)
			claim.Token = st.Token
			results, err := driver.Renew(t.Context(), d, []driver.Claim{claim})
			if err != nil || results[0].Err != nil || results[0].Status.Token != claim.Token {
				t.Fatalf("Renew: %+v, %v", results, err)
			}
			if err := d.Release(t.Context(), claim); err != nil {
				t.Fatalf("Release: %v", err)
			}
		}
	}
}

func TestCheckCluster(t *testing.T) {
	d := openCluster(t, servers.RedisCluster(t), nil)
	findings, err := driver.Check(t.Context(), d)
	if err != nil || len(findings) < 3 {
		t.Errorf("Check: %v, %v; want what is so on three masters", findings, err)
	}
}

// A Ring would grant a lock twice, so it is refused.
func TestNoRing(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": "127.0.0.1:1"}})
	defer ring.Close()
	if _, err := goredis.New(ring, nil); err == nil {
		t.Error("a Ring was accepted")
	}
}
