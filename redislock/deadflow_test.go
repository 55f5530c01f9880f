package redislock_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/redislock"
)

// attempt requests c once, as clients do: with patience.
func attempt(t *pace.T, d claimed.Driver, c driver.Claim) (driver.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), t.Scaled(500*time.Millisecond))
	defer cancel()
	return d.Request(ctx, c)
}

// The packets of open connections vanish, and new connections work: one attempt is lost, and no more.
func TestDeadConnection(t *testing.T) {
	srv := servers.Redis(t)
	pace.Run(t, "one attempt", func(t *pace.T) { deadConnection(t, srv) })
}

func deadConnection(t *pace.T, srv *servers.Server) {
	const crowd = 8
	t.Margin(100 * time.Millisecond)
	p := proxy.New(t, srv.Addr)
	d := openAt(t, p.Addr, "")
	claims := make([]driver.Claim, crowd)
	together := func(do func(i int)) {
		var all sync.WaitGroup
		for i := range crowd {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	together(func(i int) { claims[i] = acquire(t, d, claim(rand.Text(), long)) })
	for range 3 {
		together(func(i int) { attempt(t, d, claims[i]) }) // they share a connection
	}
	p.SwallowOpen()
	together(func(i int) { attempt(t, d, claims[i]) })
	together(func(i int) {
		st, err := attempt(t, d, claims[i])
		if err != nil || st.Token != claims[i].Token {
			t.Errorf("after an attempt that was not answered: %+v, %v", st, err)
		}
	})
}

// The contract holds for clients whose connections have died without a word.
func TestDriverAfterDeadFlows(t *testing.T) {
	effort.Soak(t) // TestDeadConnection shows what differs
	srv := servers.Redis(t)
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver {
			return opened.DriverAfterDeadFlows(t, srv.Addr, func(addr string) string { return "redis://" + addr })
		},
	})
}

// A subscription that is dead without a word is noticed without waiting for a message.
func TestDeadSubscription(t *testing.T) {
	t.Parallel()
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	holder, waiter := openAt(t, srv.Addr, ""), openAt(t, p.Addr, "")
	held := acquire(t, holder, claim("jobs", long))
	next := enqueue(t, waiter, claim("jobs", long))
	pace.Run(t, "noticed", func(t *pace.T) {
		p.SwallowOpen()
		limit := t.Scaled(10 * time.Second) // by themselves, clients of Redis notice after 11 s
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		if st, err := waiter.Wait(ctx, next); err != nil || st != (driver.Status{}) {
			t.Fatalf("on a dead subscription: %+v, %v; want to ask again", st, err)
		}
	})
	release(t, holder, held)
	// A request may be the attempt that the dead connection for requests costs.
	awaitRenewing(t, waiter, next, time.Second)
}

// Who gives up sooner than this server answers, again and again, costs nobody else the connection that all share.
func TestImpatienceBesideALease(t *testing.T) {
	srv := servers.Redis(t)
	p := proxy.New(t, srv.Addr)
	renewBesideTheImpatient(t, p, openAt(t, p.Addr, ""), "held", "wanted")
}

// renewBesideTheImpatient renews a lease at a server that answers late, beside somebody who gives up sooner.
func renewBesideTheImpatient(t *testing.T, p *proxy.Proxy, d *redislock.QueueDriver, lease, wanted string) {
	const answers = 200 * time.Millisecond
	held := acquire(t, d, claim(lease, long))
	p.Delay(answers / 2) // each way
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var impatient sync.WaitGroup
	defer impatient.Wait()
	defer cancel()
	impatient.Go(func() {
		for ctx.Err() == nil {
			soon, stop := context.WithTimeout(ctx, answers*3/4)
			d.Request(soon, claim(wanted, long))
			stop()
		}
	})
	for renewed := 0; renewed < 5; {
		renewed++
		if _, err := d.Request(ctx, held); err != nil {
			renewed = 0
		}
		if ctx.Err() != nil {
			t.Fatal("a lease was not renewed five times in a row, beside attempts that gave up")
		}
	}
}
