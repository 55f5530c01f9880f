package zklock_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// A cutOff is what befalls a server that follows, and with it the holders that are connected to it alone.
type cutOff struct {
	name  string
	ttl   time.Duration // zero for the usual one
	lines []string      // more of the servers' configuration
	quiet bool          // the server does not hear the holders' pings
	begin func(t *testing.T, p parted)
}

// A parted ensemble has a follower that is cut off.
type parted struct {
	all                     []*servers.Server
	net                     *servers.Network
	leader, follower, third int
}

var cutOffs = []cutOff{
	{name: "both ways", begin: func(t *testing.T, p parted) { p.net.CutOff(t, p.follower) }},
	{name: "after a silence", quiet: true, begin: mute},
	{name: "is not heard", begin: mute},
	{name: "is not heard by the leader", begin: func(t *testing.T, p parted) { p.net.Cut(t, p.follower, p.leader) }},
	{name: "hears nothing", begin: func(t *testing.T, p parted) {
		p.net.Cut(t, p.leader, p.follower)
		p.net.Cut(t, p.third, p.follower)
	}},
	{name: "while the leader is stopped", begin: stopLeader(3 * time.Second)},
	{name: "while the leader is stopped and replaced", begin: stopLeader(7 * time.Second)},
	{name: "with a short TTL", ttl: 3 * time.Second, begin: mute},
	{name: "with a long TTL", ttl: 38 * time.Second, begin: mute},
	{name: "with a large syncLimit", lines: []string{"syncLimit=30"}, begin: mute},
}

func mute(t *testing.T, p parted) {
	p.net.Cut(t, p.follower, p.leader)
	p.net.Cut(t, p.follower, p.third)
}

func stopLeader(d time.Duration) func(t *testing.T, p parted) {
	return func(t *testing.T, p parted) {
		mute(t, p)
		p.all[p.leader].Pause(t)
		time.Sleep(d)
		p.all[p.leader].Resume(t)
	}
}

// A server is cut off just after it has passed on renewals. The leader does not take these for signs of life, and
// grants the locks by what it has heard before. The holders must know first.
func TestCutOffWithItsServer(t *testing.T) {
	for i, c := range cutOffs {
		t.Run(c.name, func(t *testing.T) {
			switch {
			case i > 1:
				effort.Soak(t)
			case i > 0:
				effort.Long(t)
			}
			t.Parallel()
			all, net := servers.ZooKeeperApart(t, 3, c.lines...)
			for range effort.Pick(1, 3) {
				until(t, "all serve", func() bool { return allServe(t, all) })
				leader := servers.ZooKeeperLeader(t, all)
				c.try(t, parted{all, net, leader, (leader + 1) % 3, (leader + 2) % 3})
				net.Heal(t)
			}
		})
	}
}

func allServe(t *testing.T, all []*servers.Server) bool {
	for _, s := range all {
		if !strings.Contains(s.ZooKeeperWord(t, "srvr"), "\nMode: ") {
			return false
		}
	}
	return true
}

// try lets some hold locks that were renewed one after the other in the second before the cut, and others wait.
func (c cutOff) try(t *testing.T, p parted) {
	const holders, apart = 8, 100 * time.Millisecond
	ctx, ttl := limit(t), cmp.Or(c.ttl, holdfast.DefaultTTL)
	opts := []holdfast.Option{holdfast.WithTTL(ttl), holdfast.WithPatience(time.Minute)}
	others := holdfast.New(open(t, nil, p.all[p.leader].Addr, p.all[p.third].Addr))
	var leases [holders]*holdfast.Lease
	for i := range leases {
		var line zklock.Options
		if c.quiet {
			line.Dial = dialQuietly
		}
		holder := holdfast.New(open(t, &line, p.all[p.follower].Addr))
		l, err := holder.Mutex(fmt.Sprint("job ", i), opts...).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		leases[i] = l
		time.Sleep(apart)
	}
	last := leases[holders-1]
	first := last.ValidUntil()
	granted := make(chan time.Duration, holders) // so long after its holder knew
	for _, l := range leases {
		go func() { // ends with the release
			next, err := others.Mutex(l.Name(), opts...).Lock(ctx)
			after := time.Since(l.ValidUntil())
			if err == nil {
				err = next.Release(ctx)
			}
			if err != nil {
				t.Error(err)
			}
			granted <- after
		}()
	}
	until(t, "the last is renewed", func() bool { return last.ValidUntil().Sub(first) > ttl/50 })
	lateness := watchLateness()
	c.begin(t, p)
	least := <-granted
	for range holders - 1 {
		least = min(least, <-granted)
	}
	t.Logf("others were granted the locks %v or more after their holders knew; a timer was %v late",
		least.Round(time.Millisecond), lateness().Round(time.Millisecond))
	if least < 0 {
		t.Errorf("a lock was granted %v before its holder would know", -least)
	}
}

// A quiet connection loses pings, as a line that stands still from time to time, or a process that does.
type quiet struct{ net.Conn }

func dialQuietly(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	return quiet{conn}, err
}

func (q quiet) Write(b []byte) (int, error) {
	const length = 4 + 4 + 4
	if len(b) == length && binary.BigEndian.Uint32(b[8:]) == opPing {
		return length, nil
	}
	return q.Conn.Write(b)
}

// watchLateness returns what tells by how much a timer was late since.
func watchLateness() func() time.Duration {
	end, most := make(chan struct{}), make(chan time.Duration)
	go func() { // ends when it is asked
		const every = 10 * time.Millisecond
		tick, before, late := time.NewTicker(every), time.Now(), time.Duration(0)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				late = max(late, time.Since(before)-every)
				before = time.Now()
			case <-end:
				most <- late
				return
			}
		}
	}()
	return func() time.Duration {
		close(end)
		return <-most
	}
}
