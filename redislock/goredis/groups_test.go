package goredis_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
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

func openCluster(t testing.TB, c *servers.ClusterOfRedis, opts *redislock.Options) claimed.Driver {
	return openOn(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs(c.Masters)}), opts)
}

func openOn(t testing.TB, client redis.UniversalClient, opts *redislock.Options) claimed.Driver {
	t.Helper()
	d, err := goredis.New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); client.Close() })
	return drivertest.NewFacade(d)
}

func TestDriverOnCluster(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	c := servers.RedisCluster(t)
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return openCluster(t, c, nil) },
		TTL:  time.Second, // a busy machine stalls for longer than the shortest
	})
}

// A client that follows sentinels by itself believes a master that was replaced for as long as it has not heard of
// that. It is refused, with the way to go; so is one that calls some servers a cluster.
func TestNoClientOfSentinels(t *testing.T) {
	sentinels := []string{"127.0.0.1:1"}
	for what, client := range map[string]redis.UniversalClient{
		"failover": redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "mymaster", SentinelAddrs: sentinels}),
		"failover cluster": redis.NewFailoverClusterClient(&redis.FailoverOptions{
			MasterName: "mymaster", SentinelAddrs: sentinels,
		}),
		"universal": redis.NewUniversalClient(&redis.UniversalOptions{MasterName: "mymaster", Addrs: sentinels}),
		"universal, routed": redis.NewUniversalClient(&redis.UniversalOptions{
			MasterName: "mymaster", Addrs: sentinels, RouteByLatency: true,
		}),
	} {
		_, err := goredis.New(client, nil)
		if err == nil || !strings.Contains(err.Error(), "redis-sentinel://") {
			t.Errorf("%s: %v; want an error with the URL to use", what, err)
		}
		client.Close()
	}
}

// Slots that move cost nobody an error, with replicas that must confirm or without.
func TestSlotsMove(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t)
	plain, strict := openCluster(t, c, nil), openCluster(t, c, &redislock.Options{Replicas: 1})
	slot := c.SlotOf(t, "holdfast:{jobs}")
	for i := range 6 {
		for j, d := range []claimed.Driver{plain, strict} {
			id := fmt.Sprintf("claim-%d-%d", i, j)
			claim := driver.Claim{Name: "jobs", ID: id, Weight: 1, Limit: 1, TTL: 30 * time.Second}
			st, err := d.Request(t.Context(), claim)
			if err != nil || !st.Granted {
				t.Fatalf("Request: %+v, %v", st, err)
			}
			c.MoveSlot(t, slot, c.Masters[(i+j)%3], nil)
			claim.Token = st.Token
			results, err := d.Renew(t.Context(), []driver.Claim{claim})
			if err != nil || results[0].Err != nil || results[0].Status.Token != claim.Token {
				t.Fatalf("Renew: %+v, %v", results, err)
			}
			if err := d.Release(t.Context(), claim); err != nil {
				t.Fatalf("Release: %v", err)
			}
		}
	}
}

// While a server hangs, the locks that the others keep are renewed, with replicas that must confirm or without.
func TestRenewalsBesideAHungNode(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t, "--cluster-node-timeout", "60000") // until then no replica takes over
	drivers := []claimed.Driver{openCluster(t, c, nil), openCluster(t, c, &redislock.Options{Replicas: 1})}
	held := make([][]driver.Claim, len(drivers))
	hung := func(claim driver.Claim) bool {
		return c.Owner(t, c.SlotOf(t, "holdfast:{"+claim.Name+"}")) == c.Masters[0]
	}
	var isHung [][]bool
	for i, d := range drivers {
		isHung = append(isHung, nil)
		for j := range 60 { // a third of them where it hangs
			claim := driver.Claim{
				Name: fmt.Sprintf("job-%d-%d", i, j), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Hour,
			}
			st, err := d.Request(t.Context(), claim)
			if err != nil || !st.Granted {
				t.Fatalf("Request: %+v, %v", st, err)
			}
			claim.Token = st.Token
			held[i], isHung[i] = append(held[i], claim), append(isHung[i], hung(claim))
		}
	}
	c.Masters[0].Pause(t)
	defer c.Masters[0].Resume(t)
	pace.Run(t, "beside it", func(t *pace.T) {
		for i, d := range drivers {
			limit := t.Scaled(2 * time.Second) // less than the client's own timeout
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			results, err := d.Renew(ctx, held[i])
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			for j, r := range results {
				if !isHung[i][j] && (r.Err != nil || !r.Status.Granted) {
					t.Errorf("driver %d, lock %d: %+v", i, j, r)
				}
			}
		}
	})
}

// Who begins to wait while a server hangs does so on the others, whichever would have the channel of the client.
func TestListenBesideAHungNode(t *testing.T) {
	t.Parallel()
	c := servers.RedisCluster(t, "--cluster-node-timeout", "60000") // until then no replica takes over
	var lock string
	for i := 0; lock == ""; i++ {
		if name := fmt.Sprint("job-", i); c.Owner(t, c.SlotOf(t, "holdfast:{"+name+"}")) != c.Masters[0] {
			lock = name
		}
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs(c.Masters)})
	if _, err := openOn(t, client, nil).Queue(t.Context(), lock); err != nil { // so that it knows the cluster
		t.Fatal(err)
	}
	c.Masters[0].Pause(t)
	defer c.Masters[0].Resume(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	for i := range 12 { // with as many channels
		d := openOn(t, client, nil)
		all.Go(func() {
			claim := driver.Claim{Name: lock, ID: fmt.Sprint("c", i), Weight: 1, Limit: 1, TTL: time.Hour, Queue: true}
			for {
				_, err := d.Request(ctx, claim)
				if err == nil {
					return
				}
				if driver.Pause(ctx, 100*time.Millisecond) != nil {
					t.Errorf("claim %d cannot wait: %v", i, err)
					return
				}
			}
		})
	}
}

func TestCheckCluster(t *testing.T) {
	t.Parallel()
	d := openCluster(t, servers.RedisCluster(t), nil)
	findings, err := driver.Check(t.Context(), d, false)
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
