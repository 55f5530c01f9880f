package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/redislock/goredis"
)

func open(t testing.TB, addr string) (*redis.Client, claimed.Driver) { return openAs(t, addr, nil) }

func openAs(t testing.TB, addr string, opts *redislock.Options) (*redis.Client, claimed.Driver) {
	client := redis.NewClient(&redis.Options{Addr: addr})
	d, err := goredis.New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := client.Ping(context.Background()).Err(); err != nil {
			t.Errorf("closing the driver closed the client: %v", err)
		}
		client.Close()
	})
	return client, drivertest.NewFacade(d)
}

func TestDriver(t *testing.T) {
	effort.Raced(t)
	t.Parallel()
	addr := servers.Redis(t).Addr
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver {
			_, d := open(t, addr)
			return d
		},
		TTL: time.Second, // a busy machine stalls for longer than the shortest
	})
}

// The options choose the layout here as everywhere.
func TestForeignLayouts(t *testing.T) {
	effort.Long(t)
	for _, layout := range []redislock.Layout{redislock.PythonRedisLock, redislock.Redisson} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			addr := servers.Redis(t).Addr
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver {
					_, d := openAs(t, addr, &redislock.Options{Layout: layout})
					return d
				},
				TTL: time.Second,
			})
		})
	}
}

// The client would repeat commands by itself; those of the driver it must not.
func TestNoRetry(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	_, d := open(t, p.Addr)
	c := driver.Claim{Name: "jobs", ID: "first", Weight: 1, Limit: 1, TTL: 10 * time.Second}
	if _, err := d.Request(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.DropNextReplyAfter([]byte(c.ID))
	if err := d.Release(t.Context(), c); err == nil || errors.Is(err, driver.ErrGone) {
		t.Errorf("a release whose answer was lost: %v, want an error that says nothing about the outcome", err)
	}
	if err := d.Release(t.Context(), c); err != nil {
		t.Errorf("repeating it: %v", err)
	}
}

func TestScriptFlush(t *testing.T) {
	t.Parallel()
	srv := servers.Redis(t)
	_, d := open(t, srv.Addr)
	var claims []driver.Claim
	for i := range 50 {
		c := driver.Claim{Name: fmt.Sprint("lock ", i), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: 10 * time.Second}
		st, err := d.Request(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Token = st.Token
		claims = append(claims, c)
	}
	srv.RedisCommand(t, "SCRIPT", "FLUSH")
	results, err := d.Renew(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil || r.Status.Token != claims[i].Token {
			t.Errorf("renewal %d: %+v, %v", i, r.Status, r.Err)
		}
	}
}

func TestCheck(t *testing.T) {
	_, d := open(t, servers.Redis(t).Addr)
	findings, err := driver.Check(t.Context(), d, false)
	if err != nil || len(findings) == 0 {
		t.Errorf("Check: %v, %v", findings, err)
	}
}

// A subscription may die without a word. Who waits is told to ask when there is a new one, over which grants are
// pushed again.
func TestDeadSubscription(t *testing.T) {
	t.Parallel()
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	_, holder := open(t, srv.Addr)
	_, waiter := open(t, p.Addr)
	held := driver.Claim{Name: "jobs", ID: "held", Weight: 1, Limit: 1, TTL: time.Minute}
	if st, err := holder.Request(t.Context(), held); err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	next := held
	next.ID, next.Queue = "next", true
	if st, err := waiter.Request(t.Context(), next); err != nil || st.Granted {
		t.Fatal(st, err)
	}
	p.SwallowOpen()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if st, err := waiter.Wait(ctx, next); err != nil || st.Granted {
		t.Fatalf("on a dead subscription: %+v, %v; want to ask again", st, err)
	}
	if err := holder.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if st, err := waiter.Wait(ctx, next); err != nil || !st.Granted {
		t.Errorf("over the new one: %+v, %v", st, err)
	}
}

// Calls end with their contexts, whatever the client's own timeouts are.
func TestContexts(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, ReadTimeout: 20 * time.Second, MaxRetries: -1})
	t.Cleanup(func() { client.Close() })
	for name, opts := range map[string]*redislock.Options{"plain": nil, "with replicas": {Replicas: 1}} {
		own, err := goredis.New(client, opts)
		if err != nil {
			t.Fatal(err)
		}
		d := drivertest.NewFacade(own)
		t.Cleanup(func() { d.Close() })
		c := driver.Claim{Name: "jobs", ID: "first", Weight: 1, Limit: 1, TTL: 10 * time.Second}
		for what, do := range map[string]func(context.Context) error{
			"Request": func(ctx context.Context) error { _, err := d.Request(ctx, c); return err },
			"Release": func(ctx context.Context) error { return d.Release(ctx, c) },
			"Renew": func(ctx context.Context) error {
				results, err := d.Renew(ctx, []driver.Claim{c})
				return errors.Join(err, results[0].Err)
			},
			"List": func(ctx context.Context) (err error) {
				for _, e := range driver.List(ctx, d, "") {
					err = e
				}
				return err
			},
		} {
			p.BlackHole()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			err := do(ctx)
			cancel()
			p.Heal()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s, %s: %v, want the end of the context", name, what, err)
			}
		}
	}
}
