package redislock

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// through connects to the master that some of a group's sentinels name, with more patience than the test has.
func through(t *testing.T, g *servers.SentinelGroup, sentinels []*servers.Server, calm time.Duration) *sentinelConn {
	t.Helper()
	var hosts []string
	for _, s := range sentinels {
		hosts = append(hosts, s.Addr)
	}
	u, err := url.Parse("redis-sentinel://" + strings.Join(hosts, ",") + "/" + g.Name + "?connecttimeout=1m")
	if err != nil {
		t.Fatal(err)
	}
	to, _, err := parseURL(u)
	if err != nil {
		t.Fatal(err)
	}
	s := to.sentinels()
	s.patience, s.calm = time.Hour, calm
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := to.connectThrough(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// until waits for something that happens by itself.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// A first answer is none of the majority's: as long as there is time, the others are waited for.
func TestAnswersAreWaitedFor(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		members := map[string]string{"a": "h1", "b": "h2", "c": "h3"}
		p := &poll{members: members, heard: make(map[string]sentinelAnswer)}
		replies := make(chan sentinelReply, len(members))
		for id, at := range map[string]time.Duration{"a": 0, "b": time.Second, "c": time.Hour} {
			r := sentinelReply{addr: members[id], sentinelAnswer: sentinelAnswer{addr: "master", epoch: 7, id: id}}
			time.AfterFunc(at, func() { replies <- r })
		}
		began := time.Now()
		p.count(t.Context(), replies, 7) // the error tells of c
		if took := time.Since(began); !p.decides(7) || took != time.Second+stragglers {
			t.Errorf("after %v these have answered: %v", took, p.heard)
		}
		time.Sleep(2 * time.Hour) // c
	})
}

// A sentinel that takes connections and never answers holds nothing up: the others are a majority.
func TestFrozenSentinel(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	known := through(t, g, g.Sentinels, calm)
	frozen := g.Sentinels[0]
	frozen.Pause(t)
	fresh := through(t, g, g.Sentinels, calm)
	answering := *g
	answering.Sentinels = g.Sentinels[1:]
	old := answering.Master(t, nil)
	old.Kill(t)
	master := answering.Master(t, old)
	for what, c := range map[string]*sentinelConn{"connected before": known, "connected since": fresh} {
		until(t, what+" goes to the new master", func() bool { return c.Name() == master.Addr })
	}
	frozen.Resume(t)
}

// Who waits for nothing to happen learns of a failover all the same, from the sentinels.
func TestSentinelsTellOfFailover(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	c := through(t, g, g.Sentinels, time.Hour)
	until(t, "all sentinels are listened to", func() bool {
		c.sentinels.mu.Lock()
		defer c.sentinels.mu.Unlock()
		heard := 0
		for _, l := range c.sentinels.links {
			if l.subscription != nil && l.subscription.isReady() {
				heard++
			}
		}
		return heard == len(g.Sentinels)
	})
	old := g.Master(t, nil)
	g.Sentinels[0].RedisCommand(t, "SENTINEL", "FAILOVER", g.Name)
	master := g.Master(t, old)
	until(t, "the client goes to the new master", func() bool { return c.Name() == master.Addr })
}

// Sentinels that were taken away count no more, once the others do not know them.
func TestSentinelsAreForgotten(t *testing.T) {
	t.Parallel()
	g := servers.RedisSentinel(t)
	rest, gone := g.Sentinels[:2], g.Sentinels[2]
	c := through(t, g, rest, calm)
	knows := func() []string { return c.sentinels.addrs() }
	until(t, "the third is found", func() bool { return slices.Contains(knows(), gone.Addr) })
	gone.Kill(t)
	for _, s := range rest {
		s.RedisCommand(t, "SENTINEL", "RESET", g.Name)
	}
	until(t, "it is forgotten", func() bool {
		return !slices.Contains(knows(), gone.Addr) && len(knows()) == len(rest)
	})
	until(t, "two are all", func() bool {
		n, err := c.sentinels.ask(context.Background(), 0)
		return err == nil && n.many
	})
}

// What sentinels answer, in order, decides or does not.
func TestSentinelPoll(t *testing.T) {
	all := map[string]string{"a": "a", "b": "b", "c": "c"}
	says := func(id string, epoch uint64, addr string, others ...string) sentinelReply {
		a := sentinelAnswer{addr: addr, epoch: epoch, id: id, others: make(map[string]string)}
		for _, o := range others {
			a.others[o] = o + ":26379"
		}
		return sentinelReply{addr: id, sentinelAnswer: a}
	}
	anonymous := func(r sentinelReply) sentinelReply { r.id = ""; r.addr = r.addr + ":26379"; return r }
	for _, test := range []struct {
		name    string
		members map[string]string
		replies []sentinelReply
		decided bool
		want    named
	}{
		{"one of three is early", all, []sentinelReply{says("a", 7, "new", "b", "c")}, false, named{"new", 7, false}},
		{"one of three by its own word", nil, []sentinelReply{
			says("a", 7, "new", "b", "c"),
		}, false, named{"new", 7, false}},
		{"two of three", all, []sentinelReply{
			says("a", 7, "new", "b", "c"), says("c", 5, "old", "b", "a"),
		}, true, named{"new", 7, true}},
		{"two of three that are behind", all, []sentinelReply{
			says("a", 4, "old", "b", "c"), says("c", 4, "old", "b", "a"),
		}, false, named{"old", 4, true}},
		{"one under two addresses", all, []sentinelReply{
			says("a", 7, "new", "b", "c"), says("a", 7, "new", "b", "c"),
		}, false, named{"new", 7, false}},
		{"two that may not tell their IDs", nil, []sentinelReply{
			anonymous(says("a", 7, "new", "b", "c")), anonymous(says("b", 7, "new", "a", "c")),
		}, true, named{"new", 7, true}},
		{"all there is", nil, []sentinelReply{says("a", 7, "new")}, true, named{"new", 7, true}},
	} {
		poll := &poll{members: make(map[string]string), heard: make(map[string]sentinelAnswer)}
		for id, addr := range test.members {
			poll.members[id] = addr
		}
		for _, r := range test.replies {
			poll.add(r.addr, r.sentinelAnswer)
		}
		if got := poll.result(); got != test.want || poll.decides(5) != test.decided {
			t.Errorf("%s: %+v, decided %v; want %+v, %v", test.name, got, poll.decides(5), test.want, test.decided)
		}
	}
}
