package redislock_test

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// The limit: SET NX PX, and compare and delete, by the same client on the same server.
var compareAndDelete = rueidis.NewLuaScript(
	`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

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

// ownCycle is what a client asks of the driver, which had the claim before, and returns the ID of the new one.
func ownCycle(b *testing.B, d *redislock.QueueDriver, name, before string) string {
	ctx := context.Background()
	c := driver.Claim{
		Name: name, ID: driver.NextID(before),
		Weight: 1, Limit: 1, TTL: 15 * time.Second, Queue: true, Owner: "host 4711",
	}
	st, err := d.Request(ctx, c)
	if err != nil || !st.Granted {
		b.Fatal(st, err)
	}
	c.Token = st.Token
	if err := d.Release(ctx, c); err != nil {
		b.Fatal(err)
	}
	return c.ID
}

func benchmarkPair(b *testing.B) (rueidis.Client, *redislock.QueueDriver) {
	addr := servers.Redis(b).Addr
	c := rawClient(b, addr)
	d, err := redislock.New(c, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return c, redislock.QueueOf(d)
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
		id := ""
		for b.Loop() {
			id = ownCycle(b, d, "own", id)
		}
	})
}

// Scripts with the keys and arguments of ours: some that do nothing, and some that only make the calls which a token,
// a queue that is looked at, and a record of what was released need, without looking at the answers.
var (
	emptyScripts = scriptPair{
		rueidis.NewLuaScript(`return 'g 1234567890123456 0 0'`), rueidis.NewLuaScript(`return 'ok'`),
	}
	leastScripts = scriptPair{rueidis.NewLuaScript(`
		redis.call('HGET', KEYS[2], '~')
		local clock = redis.call('TIME')
		redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3])
		redis.call('HSET', KEYS[2], '~', '1 h ' .. clock[1] .. clock[2] .. ' ' .. ARGV[1] .. ' ' .. ARGV[4])
		return 'g ' .. clock[1] .. clock[2] .. ' 0 0'`), rueidis.NewLuaScript(`
		redis.call('GET', KEYS[1])
		redis.call('DEL', KEYS[1])
		redis.call('HSET', KEYS[2], '-', ARGV[2])
		return 'ok'`)}
)

type scriptPair struct{ request, release *rueidis.Lua }

func (p scriptPair) cycle(b *testing.B, c rueidis.Client, name string) {
	ctx := context.Background()
	base := "holdfast:{" + name + "}"
	keys := []string{base, base + ":claims", base + ":order", base + ":expiry"}
	id := rand.Text()
	args := []string{id, "h", "15000", "1 1 15000 0123456789abcdef 1 9:host 4711"}
	if err := p.request.Exec(ctx, c, keys, args).Error(); err != nil {
		b.Fatal(err)
	}
	if err := p.release.Exec(ctx, c, keys, []string{id, "1234567890123456"}).Error(); err != nil {
		b.Fatal(err)
	}
}

// serverTime returns the processor time that the server has taken, in microseconds.
func serverTime(b *testing.B, c rueidis.Client) float64 {
	info, err := c.Do(context.Background(), c.B().Info().Section("cpu").Build()).ToString()
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user" || name == "used_cpu_sys" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			total += seconds * 1e6
		}
	}
	return total
}

// BenchmarkParallel is 64 goroutines, each on a name of its own. It tells what of the server's time the scripts take,
// and what scripts of this kind take at least.
func BenchmarkParallel(b *testing.B) {
	const goroutines = 64
	c, d := benchmarkPair(b)
	run := func(b *testing.B, cycle func(name, before string) string) {
		names := make(chan string, goroutines)
		for i := range goroutines {
			names <- "name-" + strconv.Itoa(i)
		}
		b.SetParallelism(goroutines / 2)
		before := serverTime(b, c)
		b.RunParallel(func(pb *testing.PB) {
			name, id := <-names, ""
			for pb.Next() {
				id = cycle(name, id)
			}
			names <- name
		})
		b.ReportMetric((serverTime(b, c)-before)/float64(b.N), "server-µs/op")
	}
	b.Run("raw", func(b *testing.B) {
		run(b, func(name, _ string) string { rawCycle(b, c, name); return "" })
	})
	b.Run("empty scripts", func(b *testing.B) {
		run(b, func(name, _ string) string { emptyScripts.cycle(b, c, name); return "" })
	})
	b.Run("least scripts", func(b *testing.B) {
		run(b, func(name, _ string) string { leastScripts.cycle(b, c, "least-"+name); return "" })
	})
	b.Run("redislock", func(b *testing.B) {
		run(b, func(name, before string) string { return ownCycle(b, d, name, before) })
	})
}

// BenchmarkAlone shows what gathering gains. docs/speed.md says why the driver's Traits.Alone is what it is.
func BenchmarkAlone(b *testing.B) {
	drivertest.BenchmarkAlone(b, openAny(b, "redis://"+servers.Redis(b).Addr), 1, 3, 8, 16)
}
