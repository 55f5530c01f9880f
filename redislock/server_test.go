package redislock_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// openAt opens a driver on the server at this address, as programs do. params go into the URL.
func openAt(t testing.TB, addr, params string) *redislock.QueueDriver {
	t.Helper()
	return openURL(t, "redis://"+addr+params)
}

func openURL(t testing.TB, url string) *redislock.QueueDriver {
	t.Helper()
	return redislock.QueueOf(openAny(t, url))
}

// throughProxy opens a driver behind a proxy, which knows the scripts and has its subscription.
func throughProxy(t testing.TB, srv *servers.Server) (*proxy.Proxy, *redislock.QueueDriver) {
	t.Helper()
	p := proxy.New(t, srv.Addr)
	d := openAt(t, p.Addr, "")
	release(t, d, acquire(t, d, claim("jobs", long)))
	return p, d
}

// openAny opens a driver for any layout.
func openAny(t testing.TB, url string) claimed.Driver {
	t.Helper()
	return opened.DriverBesideFaults(t, url)
}

// addrs are the addresses of servers as URLs list them.
func addrs(group []*servers.Server) string {
	var list []string
	for _, s := range group {
		list = append(list, s.Addr)
	}
	return strings.Join(list, ",")
}

// rawClient is any other client of the server.
func rawClient(t testing.TB, addr string) rueidis.Client {
	t.Helper()
	return rawClientAs(t, addr, "")
}

func rawClientAs(t testing.TB, addr, password string) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, Password: password,
		ForceSingleClient: true, DisableCache: true, DisableRetry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const (
	long  = 5 * time.Minute // outlives every test, on a busy machine too
	short = 300 * time.Millisecond

	// patience ends what hangs, before a claim that outlives its test ends by itself.
	patience = 2 * time.Minute
)

var (
	claim, request            = claimed.Mutex, claimed.Request
	acquire, enqueue, release = claimed.Acquire, claimed.Enqueue, claimed.Release
)

// await waits until c is granted, and asks only when it is told to, or when what blocks it has expired.
func await(t testing.TB, d claimed.Driver, c driver.Claim) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	start := time.Now()
	for {
		_, st := request(t, d, c)
		if !st.Granted {
			st = waitOnce(ctx, t, d, c, st.Retry)
		}
		if st.Granted {
			return time.Since(start)
		}
	}
}

func waitOnce(ctx context.Context, t testing.TB, d claimed.Driver, c driver.Claim, retry time.Duration) driver.Status {
	t.Helper()
	if retry > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, retry)
		defer cancel()
	}
	st, err := d.Wait(ctx, c)
	if err != nil && (retry == 0 || ctx.Err() == nil) {
		t.Fatalf("Wait: %v", err)
	}
	return st
}

// eventually waits for what no message announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
		driver.Sleep(context.Background(), 5*time.Millisecond)
	}
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
