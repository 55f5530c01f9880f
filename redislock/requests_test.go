package redislock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// Acquiring a free lock is one request, and so is releasing it.
func TestTwoRequests(t *testing.T) {
	srv := servers.Redis(t)
	p, d := throughProxy(t, srv)
	p.Count(proxy.RESP)
	for range 100 {
		release(t, d, acquire(t, d, claim("jobs", long)))
	}
	if got := p.Counted(); got != 200 {
		t.Errorf("100 cycles took %d requests, want 200", got)
	}
}

// scriptCalls is the number of commands that scripts ran on the server, and of scripts.
func scriptCalls(t *testing.T, srv *servers.Server) (commands, scripts int) {
	t.Helper()
	for line := range strings.Lines(srv.RedisCommand(t, "INFO", "commandstats")) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		calls, _, _ := strings.Cut(strings.TrimPrefix(rest, "calls="), ",")
		switch strings.TrimPrefix(name, "cmdstat_") {
		case "evalsha", "eval":
			scripts += number(t, calls)
		case "info", "config|resetstat", "hello", "client|setinfo", "ping", "subscribe", "# Commandstats", "":
		default:
			commands += number(t, calls)
		}
	}
	return commands, scripts
}

// A lock that nobody else wants costs a server of a quorum as few commands as one alone, also where the release was
// sent before its answer had come, and so without a token.
func TestVoteAloneCost(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	const cycles = 20
	c := claim("jobs", time.Minute)
	c.ID, c.Queue = driver.NewID(), false
	cycle := func(withToken bool) {
		t.Helper()
		c.ID = driver.NextID(c.ID)
		if st, _, err := d.Propose(t.Context(), c, uint64(time.Now().UnixMicro())); err != nil || !st.Granted {
			t.Fatalf("a vote for a free lock: %+v, %v", st, err)
		} else if withToken {
			release(t, d, driver.Claim{Name: c.Name, ID: c.ID, Token: st.Token})
		} else {
			release(t, d, c)
		}
	}
	for _, withToken := range []bool{true, false} {
		cycle(withToken) // the scripts are known
		srv.RedisCommand(t, "CONFIG", "RESETSTAT")
		for range cycles {
			cycle(withToken)
		}
		// Of a vote HGET, TIME, SET and HSET, of a release HGET, GET, DEL and HSET.
		if commands, scripts := scriptCalls(t, srv); commands != 8*cycles || scripts != 2*cycles {
			t.Errorf("%d cycles, released with their token: %v: %d commands in %d scripts, want %d in %d",
				cycles, withToken, commands, scripts, 8*cycles, 2*cycles)
		}
	}
}

// A hand-off costs the same whether 1 or 1,000 wait: one release, one message, and a bounded number of commands.
func TestHandOffCost(t *testing.T) {
	srv := servers.Redis(t)
	d := openAt(t, srv.Addr, "")
	release(t, d, acquire(t, d, claim("jobs", long))) // the script is known
	cost := make(map[int]int)
	for _, waiting := range []int{2, 1000} {
		name := "queue of " + time.Duration(waiting).String()
		held := acquire(t, d, claim(name, long))
		queue := make([]driver.Claim, waiting)
		for i := range queue {
			queue[i] = enqueue(t, d, claim(name, long))
		}
		srv.RedisCommand(t, "CONFIG", "RESETSTAT")
		release(t, d, held)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		st, err := d.Wait(ctx, queue[0])
		if err != nil || !st.Granted || st.Token != queue[0].Token || !st.Contended {
			t.Fatalf("%d waiting: the next in line is told %+v, %v", waiting, st, err)
		}
		commands, scripts := scriptCalls(t, srv)
		if scripts != 1 {
			t.Errorf("%d waiting: a hand-off took %d scripts, want 1", waiting, scripts)
		}
		cost[waiting] = commands
		t.Logf("%d waiting: a hand-off takes %d commands within its script", waiting, commands)
	}
	// Of a release with somebody behind it: 5 to read the queue, 6 to end the claim, 5 to grant the next, 2 to store
	// all.
	if most := 18; cost[2] > most {
		t.Errorf("a hand-off takes %d commands, want %d", cost[2], most)
	}
	if cost[2] != cost[1000] {
		t.Errorf("a hand-off takes %d commands with 2 waiting and %d with 1,000", cost[2], cost[1000])
	}
}

// Renewing many claims is one round trip: all scripts, of 24 renewals each, are sent before the first is answered.
func TestRenewTogether(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	d := openAt(t, p.Addr, "")
	var claims []driver.Claim
	for i := range 500 {
		claims = append(claims, acquire(t, d, claim("lock "+time.Duration(i).String(), long)))
	}
	results, err := d.Renew(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var again sync.WaitGroup
	defer again.Wait()
	defer cancel()
	p.BlackHoleAnswers()
	p.Count(proxy.RESP)
	again.Go(func() { d.Renew(ctx, claims) })
	scripts := (len(claims) + 11) / 12
	eventually(t, "all scripts are sent without an answer", func() bool { return p.Counted() >= scripts })
	for i, r := range results {
		if r.Err != nil || r.Status.Token != claims[i].Token {
			t.Fatalf("renewal %d: %+v, %v", i, r.Status, r.Err)
		}
	}
}
