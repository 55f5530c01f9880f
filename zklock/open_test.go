package zklock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	a, b := mustOpen(t, "zk://"+addr+"/team/a?prefix=/locks"), mustOpen(t, "zk://"+addr+"/team?prefix=a/locks/")
	acquire(t, a, claim("job", long))
	enqueue(t, b, claim("job", long))
	acquire(t, mustOpen(t, "zk://"+addr+"/team/a"), claim("job", long)) // another prefix, other locks
	acquire(t, mustOpen(t, "zk://"+addr+"/team/a?layout=curator"), claim("job", long))

	other := raw(t, addr)
	for path, want := range map[string]int{"/team/a/locks/job": 2, "/team/a/holdfast/job": 1, "/team/a/job": 1} {
		if nodes, _, err := other.Children(path); err != nil || len(nodes) != want {
			t.Errorf("%s has %q, %v; want %d", path, nodes, err, want)
		}
	}
	if got, most := a.Traits().MaxTTL, 120*time.Second; got > most || got < most-2*time.Second {
		t.Errorf("the longest TTL is %v, want a little less than the server's sessions, %v", got, most)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	opened.Refused(t, "zk://", map[string]string{"/chroot": "no server"})
	opened.Refused(t, "zk://"+addr, map[string]string{
		"?chroot=/a":                   "unknown parameter",
		"?layout=nested":               "unknown layout",
		"/a/../b":                      "two slashes together, or . or ..",
		"?prefix=/a//b":                "chroot and prefix",
		"?acl=mine":                    "parameter acl",
		"?acl=creator":                 "needs a user",
		"?prefix=%2Fa%00b":             "chroot and prefix",
		"?sessionbytes=many":           "parameter sessionbytes",
		"?ca=/no/such/file":            "set tls=true",
		"?tls=true&ca=/no/such/file":   "parameter ca",
		"?tls=true&cert=/no/such/file": "go together",
		"?tls=true&cert=/no/such/file&key=/no/such/file": "parameters cert and key",
		"?sasl=true":       "name the user",
		"?sessionbytes=99": "16384 to",
	})
	if _, err := zklock.New(nil, nil); err == nil {
		t.Error("New takes no server for one")
	}
}

func TestOpenWithoutServer(t *testing.T) {
	t.Parallel()
	addr := servers.FreeAddr(t)
	pace.Run(t, "open", func(t *pace.T) { openWithoutServer(t, addr) })
}

func openWithoutServer(t *pace.T, addr string) {
	ctx, cancel := context.WithTimeout(limit(t), t.TTL(time.Second))
	defer cancel()
	_, err := drivertest.Open(ctx, "zk://app:s3cret@"+addr)
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "reachable") ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an error that says what is wrong and what to look at, without the password", err)
	}
}

func TestUserAndPassword(t *testing.T) {
	t.Parallel()
	addr := zklock.Server(t).Addr
	app := mustOpen(t, "zk://app:s3cret@"+addr)
	held := acquire(t, app, claim("job", long))
	enqueue(t, mustOpen(t, "zk://app:s3cret@"+addr), claim("job", long))
	for what, login := range map[string]string{
		"another password": "app:s3cret-wrong@", "another user": "else:s3cret@", "nobody": "",
	} {
		d := mustOpen(t, "zk://"+login+addr)
		_, err := d.Request(limit(t), claim("job", long))
		if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want a refusal without the password", what, err)
		}
		if err := d.Release(limit(t), held); err == nil {
			t.Errorf("%s released the lock", what)
		}
	}
	acquire(t, app, held)

	shared := mustOpen(t, "zk://app:s3cret@"+addr+"?prefix=open&acl=open")
	acquire(t, shared, claim("job", long))
	enqueue(t, mustOpen(t, "zk://"+addr+"?prefix=open"), claim("job", long))
}

// A chroot is for others too: one that is not there is made for them, or not at all.
func TestChrootThatIsNotThere(t *testing.T) {
	t.Parallel()
	addr := servers.ZooKeeper(t, "-Dznode.container.checkIntervalMs=100").Addr
	_, err := openURL(t, "zk://app:s3cret@"+addr+"/team/a")
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), `"/team/a"`) ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("with nodes for one user: got %v, want a refusal that names the chroot", err)
	}
	opts := &zklock.Options{Chroot: "/team/a", User: "app", Password: "s3cret"}
	if _, err := open(t, opts, addr).Request(limit(t), claim("job", long)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("without a URL: got %v, want a refusal", err)
	}
	d := mustOpen(t, "zk://"+addr+"/team/a")
	release(t, d, acquire(t, d, claim("job", long)))
	other := raw(t, addr)
	put(t, other, zk.FlagPersistent, "/team/a/app", "of another application")
	acquire(t, mustOpen(t, "zk://app:s3cret@"+addr+"/team/a?prefix=ours"), claim("job", long))
	if err := other.Delete("/team/a/app", -1); err != nil {
		t.Fatal(err)
	}
	d.Close()
	until(t, "the prefix is removed", func() bool {
		there, _, err := other.Exists("/team/a/holdfast")
		return err == nil && !there
	})
	for _, node := range []string{"/team", "/team/a"} {
		acl, stat, err := other.GetACL(node)
		forAll := err == nil && slices.Equal(acl, zk.WorldACL(zk.PermAll))
		if !forAll || stat.EphemeralOwner != 0 { // a container has an owner
			t.Errorf("%s: %v, %+v, %v; want it for everybody, and no container", node, acl, stat, err)
		}
	}
}

func TestReservedName(t *testing.T) {
	t.Parallel()
	d := open(t, &zklock.Options{Layout: zklock.Curator}, zklock.Server(t).Addr)
	for _, name := range []string{"zookeeper", "zookeeper/quota"} {
		if _, err := d.Request(limit(t), claim(name, long)); !errors.Is(err, driver.ErrInvalidName) {
			t.Errorf("%s: got %v, want ErrInvalidName", name, err)
		}
	}
}

// requestFor requests a claim until it has so long a TTL: it may have less where its session took long to begin.
func requestFor(t *testing.T, d *zklock.Driver, c driver.Claim, ttl time.Duration) (driver.Claim, driver.Status) {
	t.Helper()
	c, st := request(t, d, c)
	until(t, "it has its whole TTL", func() bool {
		if st.TTL < ttl {
			_, st = request(t, d, c)
		}
		return st.TTL >= ttl
	})
	return c, st
}

// Claims of more than one TTL live in a session for each.
func TestSeveralTTLs(t *testing.T) {
	t.Parallel()
	d := open(t, nil, zklock.Server(t).Addr)
	for _, ttl := range []time.Duration{time.Second, 2500 * time.Millisecond, long, longest} {
		c, st := requestFor(t, d, claim(ttl.String(), ttl), ttl)
		if st.TTL > ttl+10*time.Millisecond {
			t.Errorf("TTL %v was asked for, %v granted", ttl, st.TTL)
		}
		c.TTL = 2 * longest
		if _, err := d.Request(limit(t), c); err == nil {
			t.Errorf("a claim of %v was renewed for %v, though its session ends before", ttl, c.TTL)
		}
	}
}

// slack is what a session of some seconds lives longer than its claims.
const slack = time.Second

// As long as the server hears from the session all the time, a renewal is worth its whole TTL, however old the session
// is. The client library pings too seldom for that.
func TestRenewalsAreWhole(t *testing.T) {
	t.Parallel()
	d := open(t, nil, zklock.Server(t).Addr)
	c, st := request(t, d, claim("job", longest))
	for began := time.Now(); time.Since(began) < 3*slack || st.TTL < longest; driver.Sleep(t.Context(), slack/10) {
		if time.Since(began) > longest/2 {
			t.Fatalf("renewals for %v are for %v", longest, st.TTL)
		}
		c, st = request(t, d, c)
	}
}

// Where it did not hear from the session, a renewal is worth no more than the leader is known to have heard.
func TestRenewalAfterASilence(t *testing.T) {
	t.Parallel()
	d := open(t, &zklock.Options{Dial: dialQuietly}, zklock.Server(t).Addr)
	c, st := request(t, d, claim("job", longest))
	began, silence := time.Now(), time.Duration(0)
	for ; silence < 2*slack; driver.Sleep(t.Context(), slack/10) {
		silence = time.Since(began)
		c, st = request(t, d, c)
	}
	if most := longest + slack - silence + 10*time.Millisecond; st.TTL > most {
		t.Errorf("after a silence of %v a renewal is for %v, want %v at most", silence, st.TTL, most)
	}
}

// Where the server lets sessions live longer than they should, claims do too.
func TestLongerTTL(t *testing.T) {
	t.Parallel()
	d := open(t, nil, servers.ZooKeeper(t, "minSessionTimeout=10000").Addr)
	if _, st := requestFor(t, d, claim("job", time.Second), 9*time.Second); st.TTL != 9*time.Second {
		t.Errorf("the TTL is %v, want the session's 10s without the slack of 1s", st.TTL)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	ensemble := servers.ZooKeeperEnsemble(t, 3)
	findings := slices.DeleteFunc(check(t, open(t, nil, addrs(ensemble)...)), func(f driver.Finding) bool {
		return strings.Contains(f.Fact, "has a known fault") // which depends on the version
	})
	if len(findings) != 23 || find(findings, "3 members").Level != driver.Fine || find(findings, "3.").Fact == "" {
		t.Errorf("found %+v", findings)
	}
	ensemble[0].Kill(t)
	findings = check(t, open(t, nil, addrs(ensemble)...))
	if f := find(findings, ensemble[0].Addr); f.Level != driver.Warning || f.Advice == "" {
		t.Errorf("of a server that is down: %+v", f)
	}
}

func TestCheckOfAWeakServer(t *testing.T) {
	t.Parallel()
	s := servers.ZooKeeper(t, "tickTime=6000", "minSessionTimeout=3000", "maxSessionTimeout=12000")
	findings := check(t, open(t, nil, s.Addr))
	for _, fact := range []string{"ticks of 6s", "keeps sessions for 3s", "1 members", "up to 1"} {
		if f := find(findings, fact); f.Level != driver.Warning || f.Advice == "" {
			t.Errorf("%s: %+v", fact, f)
		}
	}
}

// With the syncLimit of ZooKeeper's sample configuration an election takes longer than a holder may wait.
func TestCheckOfASlowElection(t *testing.T) {
	t.Parallel()
	s := servers.ZooKeeperEnsemble(t, 1, "tickTime=2000", "syncLimit=5")[0]
	if f := find(check(t, open(t, nil, s.Addr)), "notices after 10s"); f.Level != driver.Warning || f.Advice == "" {
		t.Errorf("%+v", f)
	}
}

// The end of a session with many nodes would be too much for the server.
func TestCheckOfASmallBuffer(t *testing.T) {
	t.Parallel()
	s := servers.ZooKeeper(t, "-Djute.maxbuffer=300000")
	for room, want := range map[int]driver.Level{
		100_000: driver.Fine, 200_000: driver.Warning, 600_000: driver.Unsafe,
	} {
		f := find(check(t, open(t, &zklock.Options{SessionBytes: room}, s.Addr)), "at once")
		if f.Level != want || (f.Advice == "") != (want == driver.Fine) {
			t.Errorf("with room for %d bytes: %+v, want level %v", room, f, want)
		}
	}
	if f := find(check(t, open(t, nil, zklock.Server(t).Addr)), "at once"); f.Level != driver.Fine {
		t.Errorf("with the bounds that both have by themselves: %+v", f)
	}
}

func check(t *testing.T, d *zklock.Driver) []driver.Finding {
	t.Helper()
	findings, err := d.Check(limit(t), false)
	if err != nil {
		t.Errorf("Check: %v", err)
	}
	return findings
}

func find(findings []driver.Finding, fact string) driver.Finding {
	for _, f := range findings {
		if strings.Contains(f.Fact, fact) {
			return f
		}
	}
	return driver.Finding{}
}
