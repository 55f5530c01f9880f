package zklock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/apart"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

func TestLostAnswerOfARequestThatIsUndone(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	leasedtest.UndoneRequest(t, l.Driver, l.Other, requested(t, l))
}

func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	leasedtest.BrokenConnections(t, engine, addrs(servers.ZooKeeperEnsemble(t, 3)))
}

func TestServerForgets(t *testing.T) {
	t.Parallel()
	leasedtest.RestartedEmpty(t, engine, servers.ZooKeeper(t))
}

// A server that has lost its leader still answers reads and pings for a while, and its clients must not believe it.
func TestServerWithoutLeader(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3, "syncLimit=900") // it believes for 90 s that the leader is there
	ctx := limit(t)
	leader := slices.IndexFunc(ensemble, func(s *servers.Server) bool { return s.ZooKeeperLeads(t) })
	follower := ensemble[(leader+1)%3]
	held, err := holdfast.New(open(t, nil, follower.Addr)).Mutex("job", holdfast.WithTTL(10*time.Second)).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ensemble {
		if s != follower {
			s.Pause(t)
		}
	}
	select {
	case <-held.Done():
	case <-ctx.Done():
		t.Error("the holder believes a server that has lost its leader")
	}
	if says := follower.ZooKeeperWord(t, "srvr"); !strings.Contains(says, "Mode: follower") {
		t.Logf("the server does not serve any more, so this run shows nothing:\n%s", says)
	}
	for _, s := range ensemble {
		if s != follower {
			s.Resume(t)
		}
	}
}

// An operator ends the sessions of a holder and of a waiter.
func TestClosedSession(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second // what has ended is remembered for so long
	server := zklock.Server(t)
	var taps [2]tap
	holder, waiter := open(t, taps[0].options(), server.Addr), open(t, taps[1].options(), server.Addr)
	held := acquire(t, holder, claim("job", ttl))
	waiting := enqueue(t, waiter, claim("job", ttl))
	ended := make(chan error, 1)
	go func() { // ends when the claim does
		ctx := limit(t)
		_, err := waiter.Wait(ctx, waiting)
		// The connection may break before the reason is known.
		for !errors.Is(err, driver.ErrGone) && ctx.Err() == nil {
			_, err = waiter.Wait(ctx, waiting)
		}
		ended <- err
	}()
	heard := leasedtest.Heard(t, holder, held)
	taps[1].closeSessions(t, server)
	taps[0].closeSessions(t, server)
	if err := <-ended; !errors.Is(err, driver.ErrGone) {
		t.Errorf("Wait returns %v, want ErrGone", err)
	}
	<-heard // of its connection, at first
	until(t, "the holder's claim has ended", func() bool {
		_, err := holder.Wait(limit(t), held)
		return errors.Is(err, driver.ErrGone)
	})
	for d, c := range map[*zklock.Driver]driver.Claim{holder: held, waiter: waiting} {
		claimed.IsGone(t, d, c)
		release(t, d, acquire(t, d, claim("job", long))) // in a new session
	}
}

// requested returns a claim that is queued, though the answer to its request was lost.
func requested(t *testing.T, l leasedtest.Lossy) driver.Claim {
	t.Helper()
	c := claim("job", long)
	l.Loses(t, c.ID, func() error { _, err := l.Request(limit(t), c); return err })
	until(t, "the request is applied", func() bool {
		queue, err := l.Other.Queue(limit(t), "job")
		return err == nil && len(queue) == 1
	})
	return c
}

func TestLostAnswerOfARequest(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	leasedtest.RepeatedRequest(t, l.Driver, l.Other, requested(t, l))
}

// Nobody undoes the request, and the client lives on: the claim ends all the same.
func TestLostAnswerOfARequestThatIsForgotten(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	c := claim("job", short)
	l.Loses(t, c.ID, func() error { _, err := l.Request(limit(t), c); return err })
	acquire(t, l.Driver, claim("another", long))
	take(t, l.Other, claim("job", long))
}

func TestLostAnswerOfARelease(t *testing.T) {
	t.Parallel()
	l := leasedtest.NewLossy(t, engine)
	c := acquire(t, l.Driver, claim("job", long))
	l.Loses(t, c.ID, func() error { return l.Release(limit(t), c) })
	next := take(t, l.Other, claim("job", long))
	release(t, l.Driver, c)
	acquire(t, l.Other, next) // the repeated release did not touch it
}

// What changes while the connection is away is told when it is back.
func TestChangeWhileAway(t *testing.T) {
	t.Parallel()
	server := servers.ZooKeeper(t)
	p := proxy.New(t, server.Addr)
	d, other := open(t, nil, p.Addr), open(t, nil, server.Addr)
	acquire(t, other, claim("job", longest))
	watches := func() string {
		_, count, _ := strings.Cut(server.ZooKeeperWord(t, "mntr"), "\nzk_watch_count\t")
		count, _, _ = strings.Cut(count, "\n")
		return count
	}
	watched := make(chan error, 1)
	ctx, cancel := context.WithTimeout(limit(t), long)
	defer cancel()
	go func() { watched <- d.Watch(ctx, "job") }() // ends with the change
	until(t, "it watches", func() bool { return watches() == "1" })
	p.BlackHole()
	enqueue(t, other, claim("job", longest))
	p.Reset()
	p.Heal()
	// An error of the connection ends it, too: whoever watches looks then.
	if err := <-watched; err != nil && ctx.Err() != nil {
		t.Errorf("Watch: %v", err)
	}
}

func TestNestedNames(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	for _, layout := range []zklock.Layout{zklock.Native, zklock.Curator, zklock.Kazoo} {
		d := open(t, &zklock.Options{Layout: layout, Prefix: string(layout)}, addr)
		acquire(t, d, claim("a/b", long))
		acquire(t, d, claim("a", long))
		acquire(t, d, claim("a/b/c", long))
	}
}

// While a majority serves, no holder loses its lock, and a lock that is free can be had, whatever befalls one
// member. The others notice after syncLimit, two ticks of 2 s, and those that have gone elsewhere meanwhile must
// find the new leader.
func TestOneMemberFails(t *testing.T) {
	apart.Run(t, apart.Ensemble{
		Start:    func(t *testing.T) ([]*servers.Server, *servers.Network) { return servers.ZooKeeperApart(t, 3) },
		Leader:   leader,
		Open:     func(t testing.TB, addrs ...string) driver.Driver { return engine.Open(t, addrs...) },
		Election: 10 * time.Second,
		Always:   []string{"the leader is cut off"},
	})
}
