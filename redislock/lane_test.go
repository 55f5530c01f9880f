package redislock_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// While a crowd waits for replicas that do not answer, renewals reach the server, calls end with their contexts, and
// few connections are taken.
func TestCrowdWaitsForReplicas(t *testing.T) {
	const crowd = 100
	master, replica := servers.Redis(t, "--repl-diskless-sync-delay", "0"), servers.Redis(t)
	replica.Follow(t, master)
	d := openAt(t, master.Addr, "?replicas=1&replicaswithin=20s")
	held := acquire(t, d, acquire(t, d, claim("held", 30*time.Second))) // the scripts are known
	replica.Pause(t)
	defer replica.Resume(t)

	ctx, giveUp := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer giveUp()
	for i := range crowd {
		c := claim(fmt.Sprint("lock ", i), long)
		c.Queue = false
		all.Go(func() { d.Request(ctx, c) })
	}
	eventually(t, "the crowd waits", func() bool { return waitingForReplicas(t, master) > 0 })

	held.TTL = time.Hour / 10
	renewing, endRenewal := context.WithCancel(t.Context())
	renewed := make(chan error, 1)
	go func() {
		_, err := d.Request(renewing, held)
		renewed <- err
	}()
	eventually(t, "the renewal reaches the server", func() bool {
		return number(t, master.RedisCommand(t, "PTTL", "holdfast:{held}")) > 60_000
	})
	endRenewal()
	if err := <-renewed; !errors.Is(err, context.Canceled) {
		t.Errorf("a renewal that nobody confirms: %v, want the end of its context", err)
	}
	const most = 1 + 8 + 1 // an attempt at requests, those that have stalled, and the renewal
	if n := waitingForReplicas(t, master); n > most {
		t.Errorf("%d connections wait for replicas, want at most %d", n, most)
	}
	giveUp()
	all.Wait() // or the test takes until the replicas have had their time, again and again
	replica.Resume(t)
	if st, err := d.Request(t.Context(), held); err != nil || !st.Granted {
		t.Errorf("with the replica: %+v, %v", st, err)
	}
}

// waitingForReplicas is how many connections wait for replicas.
func waitingForReplicas(t *testing.T, s *servers.Server) int {
	t.Helper()
	return strings.Count(s.RedisCommand(t, "CLIENT", "LIST"), " cmd=wait ")
}

// What goes together is answered each by itself, and all of it has been confirmed.
func TestConfirmedInOnePipeline(t *testing.T) {
	master, replica := servers.Redis(t, "--repl-diskless-sync-delay", "0"), servers.Redis(t)
	replica.Follow(t, master)
	d := openAt(t, master.Addr, "?replicas=1")
	var all sync.WaitGroup
	for i := range 50 {
		name := fmt.Sprint("lock-", i%10)
		all.Go(func() {
			c := claim(name, long)
			c.Queue = false
			st, err := d.Request(t.Context(), c)
			if err != nil {
				t.Errorf("Request: %v", err)
				return
			}
			if holder := replica.RedisCommand(t, "GET", "holdfast:{"+name+"}"); st.Granted != (holder == c.ID) {
				t.Errorf("%s: granted %v, and on the replica %q has it, not %q", name, st.Granted, holder, c.ID)
			}
		})
	}
	all.Wait()
}

// A renewal that may take long, over a connection that is dead without a word, keeps none waiting that must be answered
// sooner.
func TestShortRenewalBesideOneThatHangs(t *testing.T) {
	t.Parallel()
	master, replica := servers.Redis(t, "--repl-diskless-sync-delay", "0"), servers.Redis(t)
	replica.Follow(t, master)
	pace.Run(t, "in time", func(t *pace.T) { shortRenewalBesideOneThatHangs(t, master) })
}

func shortRenewalBesideOneThatHangs(t *pace.T, master *servers.Server) {
	p := proxy.New(t, master.Addr)
	d := openAt(t, p.Addr, "?replicas=1&replicaswithin="+t.Scaled(3*time.Second).String())
	renew := func(c driver.Claim, within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := d.Request(ctx, c)
		return err
	}
	slow, quick := acquire(t, d, claim(rand.Text(), time.Hour)), acquire(t, d, claim(rand.Text(), time.Hour))
	if err := errors.Join(renew(slow, patience), renew(quick, patience)); err != nil {
		t.Fatal(err)
	}
	p.SwallowOpen()
	hangs := make(chan error, 1)
	go func() { hangs <- renew(slow, patience) }()
	driver.Sleep(t.Context(), 50*time.Millisecond)
	for renew(quick, t.Scaled(300*time.Millisecond)) != nil {
		driver.Sleep(t.Context(), 100*time.Millisecond)
	}
	if len(hangs) > 0 { // that ended with its connection, seconds later
		t.Error("the quick one was renewed no sooner than the slow one was given up")
	}
	<-hangs
}
