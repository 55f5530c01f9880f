package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

const (
	tokensLast = 2 * time.Second
	tokensEnd  = 4 * tokensLast // by then they have: the server looks now and then
)

// withPasswords has servers want passwords from now on. The user app may use the locks with these names.
func withPasswords(t *testing.T, group []*servers.Server, names ...string) {
	t.Helper()
	etcdctl(t, group, "user", "add", "root", "--new-user-password", "s3cret-root")
	etcdctl(t, group, "user", "grant-role", "root", "root")
	etcdctl(t, group, "role", "add", "locks")
	for _, name := range append(names, ".ended/") {
		etcdctl(t, group, "role", "grant-permission", "locks", "--prefix=true", "readwrite", "/holdfast/"+name)
	}
	etcdctl(t, group, "user", "add", "app", "--new-user-password", "s3cret-app")
	etcdctl(t, group, "user", "grant-role", "app", "locks")
	etcdctl(t, group, "auth", "enable")
}

func etcdctl(t *testing.T, group []*servers.Server, args ...string) {
	t.Helper()
	if out, err := servers.Etcdctl(t, group, args...).CombinedOutput(); err != nil {
		t.Fatalf("etcdctl %q: %v: %s", args, err, out)
	}
}

// login is what URLs of these tests begin with.
const login = "etcd://app:s3cret-app@"

// shortTokens is the address of a server whose tokens last for a moment.
func shortTokens(t *testing.T) (addr string) {
	t.Helper()
	one := servers.Etcd(t, "--auth-token-ttl", fmt.Sprint(int(tokensLast.Seconds())))
	withPasswords(t, []*servers.Server{one}, "")
	return one.Addr
}

// A driver that has listened for longer than a token lasts hears what happens to claims that it listens to afterwards.
func TestListenAfterTheToken(t *testing.T) {
	t.Parallel()
	addr := shortTokens(t)
	d, other := own(mustOpen(t, login+addr)), own(mustOpen(t, login+addr))
	for i, name := range []string{"first", "second"} {
		c := acquire(t, d, claim(name, long))
		heard := make(chan struct{}, 100)
		stop, err := d.Listen(limit(t), c, func() { heard <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		until(t, "it listens to the "+name, func() bool { return watchers(t, addr) > i })
		for len(heard) > 0 {
			<-heard
		}
		if err := other.Revoke(limit(t), name, c.ID); err != nil {
			t.Fatal(err)
		}
		<-heard
		driver.Sleep(t.Context(), tokensEnd)
	}
}

// While a claim of this process has waited for longer than a token lasts, another one is handed its lock at once.
func TestHandOffAfterTheToken(t *testing.T) {
	t.Parallel()
	addr := shortTokens(t)
	d, other := mustOpen(t, login+addr), mustOpen(t, login+addr)
	acquire(t, other, claim("first", long))
	second := acquire(t, other, claim("second", long))
	waiting := enqueue(t, d, claim("first", long))
	ctx, cancel := context.WithCancel(limit(t))
	defer cancel()
	go granted(ctx, d, waiting) // ends with ctx
	driver.Sleep(t.Context(), tokensEnd)
	c := enqueue(t, d, claim("second", long))
	got := make(chan error, 1)
	go func() { got <- granted(ctx, d, c) }()
	release(t, other, second)
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the lock is free, and the next does not know")
	}
}

// A member that hangs holds up nobody who begins to watch at another one, though that wants a token.
func TestHungMemberWithPasswords(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	withPasswords(t, cluster, "")
	var through []string
	var hang func()
	for _, s := range cluster {
		p := proxy.New(t, s.Addr)
		through, hang = append(through, p.Addr), p.BlackHole
	}
	d, other := mustOpen(t, login+strings.Join(through, ",")), mustOpen(t, login+strings.Join(addrs(cluster), ","))
	handOff := func() time.Duration {
		held := acquire(t, other, claim("job", long))
		c := enqueue(t, d, claim("job", long))
		got := make(chan error, 1)
		go func() { got <- granted(limit(t), d, c) }()
		began := time.Now()
		release(t, other, held)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		release(t, d, c)
		return time.Since(began)
	}
	handOff()
	hang()
	pace.Run(t, "hand-offs", func(t *pace.T) {
		for range 12 {
			if took := handOff(); took > t.Scaled(5*time.Second) { // to wait for the member takes 12 s
				t.Errorf("a hand-off took %v", took)
			}
		}
	})
}

// A member that is cut off from the others cannot give tokens. Whichever is asked first, Open asks others.
func TestOpenWhereAMemberIsCutOff(t *testing.T) {
	t.Parallel()
	cluster, net := servers.EtcdApart(t, 3)
	follower := (leader(t, cluster) + 1) % len(cluster)
	withPasswords(t, cluster, "")
	net.CutOff(t, follower)
	pace.Run(t, "open", func(t *pace.T) { // members take long over passwords on a busy machine
		for range 8 { // which one is asked first is drawn
			d := mustOpen(t, login+strings.Join(addrs(cluster), ","))
			release(t, d, acquire(t, d, claim("job", long)))
		}
	})
}

// Whichever member gave the first token, the others are asked when it hangs.
func TestOpenKnowsAllMembers(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	withPasswords(t, cluster, "")
	var proxies []*proxy.Proxy
	var through []string
	for _, s := range cluster {
		p := proxy.New(t, s.Addr)
		proxies, through = append(proxies, p), append(through, p.Addr)
	}
	d := mustOpen(t, login+strings.Join(through, ","))
	for _, p := range proxies {
		p.BlackHole()
		release(t, d, acquire(t, d, claim("job", long)))
		p.Heal()
	}
}

// While the members elect a leader, none of them gives tokens. Open asks them again.
func TestOpenWhileALeaderIsElected(t *testing.T) {
	t.Parallel()
	cluster, net := servers.EtcdApart(t, 3)
	first := leader(t, cluster)
	withPasswords(t, cluster, "")
	net.CutOff(t, first) // the others find out in a second
	d := mustOpen(t, login+strings.Join(addrs(cluster), ","))
	release(t, d, acquire(t, d, claim("job", long)))
}

// A lock for which the permission is withdrawn costs no other lock its renewal.
func TestPermissionForOneOfSome(t *testing.T) {
	t.Parallel()
	one := []*servers.Server{servers.Etcd(t)}
	withPasswords(t, one, "a/", "b/")
	d := own(mustOpen(t, login+one[0].Addr))
	a, b := acquire(t, d, claim("a", long)), acquire(t, d, claim("b", long))
	etcdctl(t, one, "--user", "root:s3cret-root", "role", "revoke-permission", "locks", "--prefix=true", "/holdfast/b/")
	results, err := d.Renew(limit(t), []driver.Claim{a, b})
	if err != nil || results[0].Err != nil || !errors.Is(results[1].Err, driver.ErrRefused) {
		t.Errorf("want the first renewed, and the second refused: %v, %+v", err, results)
	}
}

// Nor does a right that was withdrawn keep others from being renewed when their lease has to be extended, or from being
// acquired.
func TestLeaseOfWhatIsNotPermitted(t *testing.T) {
	t.Parallel()
	one := []*servers.Server{servers.Etcd(t)}
	withPasswords(t, one, "a/", "b/", "c/")
	d := own(mustOpen(t, login+one[0].Addr))
	const ttl = 4 * time.Second
	release(t, d, acquire(t, d, claim("b", ttl))) // its tombstone stays
	a, b, waiting := acquire(t, d, claim("a", ttl)), acquire(t, d, claim("b", ttl)), enqueue(t, d, claim("a", ttl))
	etcdctl(t, one, "--user", "root:s3cret-root", "role", "revoke-permission", "locks", "--prefix=true", "/holdfast/b/")
	c := acquire(t, d, claim("c", ttl))
	for until := time.Now().Add(2 * ttl); time.Now().Before(until); { // all that is not extended has ended by then
		results, err := d.Renew(limit(t), []driver.Claim{a, b, waiting, c})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 2, 3} {
			if err := results[i].Err; err != nil && driver.IsAnswer(err) { // it may be late on a busy machine
				t.Fatalf("claim %d of %d is not renewed: %v", i, len(results), err)
			}
		}
		if results[1].Err == nil {
			t.Fatal("renewed without a right")
		}
	}
	release(t, d, a)
	if err := granted(limit(t), d, waiting); err != nil {
		t.Error(err)
	}
	release(t, d, c)
}

// Who begins to listen while the right to its lock is withdrawn hears of it when that is granted again.
func TestListenWithoutPermission(t *testing.T) {
	t.Parallel()
	one := []*servers.Server{servers.Etcd(t)}
	withPasswords(t, one, "a/", "b/")
	d, root := own(mustOpen(t, login+one[0].Addr)), mustOpen(t, "etcd://root:s3cret-root@"+one[0].Addr)
	a, b := acquire(t, d, claim("a", long)), acquire(t, d, claim("b", long))
	permission := func(do string, access ...string) {
		args := append([]string{"--user", "root:s3cret-root", "role", do, "locks", "--prefix=true"}, access...)
		etcdctl(t, one, append(args, "/holdfast/b/")...)
	}
	permission("revoke-permission")
	heard := make(chan string, 100)
	for _, c := range []driver.Claim{b, a} {
		stop, err := d.Listen(limit(t), c, func() { heard <- c.Name })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	until(t, "it listens to the second", func() bool { return watchers(t, one[0].Addr) == 1 }) // the first was refused
	permission("grant-permission", "readwrite")
	if err := root.Revoke(limit(t), "b", b.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-heard:
		if name != "b" {
			t.Errorf("it heard of %s", name)
		}
	case <-time.After(time.Minute):
		t.Error("it hears nothing, though it may again")
	}
}

// A program that does nothing for longer than a token lasts locks again.
func TestRequestAfterTheToken(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3, "--auth-token-ttl", fmt.Sprint(int(tokensLast.Seconds())))
	withPasswords(t, cluster, "")
	d := mustOpen(t, login+strings.Join(addrs(cluster), ","))
	release(t, d, acquire(t, d, claim("job", long)))
	driver.Sleep(t.Context(), tokensEnd)
	acquire(t, d, claim("job", long))
}

// Members that take long over passwords, as they do when many ask, keep nobody from renewing or from listening.
func TestSlowPasswords(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3, "--bcrypt-cost", "14") // takes a second
	withPasswords(t, cluster, "")
	d, err := openURL(t, login+strings.Join(addrs(cluster), ","))
	for end := limit(t); err != nil && end.Err() == nil; { // on a busy machine they take longer than a client waits
		d, err = openURL(t, login+strings.Join(addrs(cluster), ","))
	}
	if err != nil {
		t.Fatal(err)
	}
	held := acquire(t, d, claim("job", long))
	if err := renewed(limit(t), d, held); err != nil {
		t.Errorf("a renewal: %v", err)
	}
	waiting := enqueue(t, d, claim("job", long))
	release(t, d, held)
	if err := granted(limit(t), d, waiting); err != nil {
		t.Error(err)
	}
}

// renewed renews a claim as often as it takes, as its holder does.
func renewed(ctx context.Context, d claimed.Driver, c driver.Claim) error {
	for {
		_, err := d.Request(ctx, c)
		if driver.IsAnswer(err) || ctx.Err() != nil {
			return err
		}
	}
}
