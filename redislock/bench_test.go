package redislock_test

import (
	"context"
	"crypto/rand"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// The limit: SET NX PX, and compare and delete, by the same client on the same server.
var compareAndDelete = rueidis.NewLuaScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

func rawCycle(b *testing.B, c rueidis.Client, key string) {
	ctx := context.Background()
	id := rand.Text()
	if err := c.Do(ctx, c.B().Set().Key(key).Value(id).Nx().Px(15*time.Second).Build()).Error(); err != nil {
		b.Fatal(err)
	}
	if n, err := compareAndDelete.Exec(ctx, c, []string{key}, []string{id}).AsInt64(); err != nil || n != 1 {
		b.Fatal(n, err)
	}
}

func ownCycle(b *testing.B, d *redislock.Driver, name string) {
	ctx := context.Background()
	c := driver.Claim{Name: name, ID: rand.Text(), Weight: 1, Limit: 1, TTL: 15 * time.Second, Queue: true, Owner: "host 4711"}
	st, err := d.Request(ctx, c)
	if err != nil || !st.Granted {
		b.Fatal(st, err)
	}
	c.Token = st.Token
	if err := d.Release(ctx, c); err != nil {
		b.Fatal(err)
	}
}

func benchmarkPair(b *testing.B) (rueidis.Client, *redislock.Driver) {
	addr := servers.Redis(b).Addr
	c := rawClient(b, addr)
	d, err := redislock.New(c, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return c, d
}

func BenchmarkCycle(b *testing.B) {
	c, d := benchmarkPair(b)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			rawCycle(b, c, "raw")
		}
	})
	b.Run("redislock", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ownCycle(b, d, "own")
		}
	})
}

// BenchmarkParallel is 64 goroutines, each on a name of its own.
func BenchmarkParallel(b *testing.B) {
	const goroutines = 64
	c, d := benchmarkPair(b)
	run := func(b *testing.B, cycle func(name string)) {
		names := make(chan string, goroutines)
		for i := range goroutines {
			names <- "name-" + strconv.Itoa(i)
		}
		b.SetParallelism(goroutines / 2)
		b.RunParallel(func(pb *testing.PB) {
			name := <-names
			for pb.Next() {
				cycle(name)
			}
			names <- name
		})
	}
	b.Run("raw", func(b *testing.B) { run(b, func(name string) { rawCycle(b, c, name) }) })
	b.Run("redislock", func(b *testing.B) { run(b, func(name string) { ownCycle(b, d, name) }) })
}
