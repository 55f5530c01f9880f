package etcdlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/leasedtest"
	"github.com/holdfast-go/holdfast/internal/opened"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// openSoon does not wait for long.
func openSoon(t testing.TB, url string) (claimed.Driver, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(limit(t), time.Second)
	defer cancel()
	return leasedtest.OpenWithin(ctx, t, url)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	a, b := mustOpen(t, "etcd://"+addr+"/team/locks"), mustOpen(t, "etcd://"+addr+"?prefix=/team/locks")
	acquire(t, a, claim("job", long))
	enqueue(t, b, claim("job", long))
	acquire(t, mustOpen(t, "etcd://"+addr), claim("job", long)) // another prefix, other locks

	keys, err := dial(t, addr).Get(limit(t), "/team/locks/job/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || keys.Count != 2 {
		t.Errorf("%d keys are under /team/locks/job/, error %v; want 2", keys.Count, err)
	}
	if got := a.Traits().MinTTL; got != time.Second { // 1.5 election timeouts of 200 ms, in whole seconds
		t.Errorf("the shortest TTL is %v, want what the server grants, 1s", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	opened.Refused(t, "etcd://", map[string]string{
		"/prefix":                  "no server",
		"no.such.invalid?srv=true": "look up the etcd servers of no.such.invalid",
	})
	opened.Refused(t, "etcd://"+addr, map[string]string{
		"?tsl=true":           "unknown parameter",
		"/a?prefix=/b":        "give one",
		"?layout=nested":      "unknown layout",
		"?ca=/no/such/file":   "parameter ca",
		"?cert=/no/such/file": "parameters cert and key",
		"?sync=1ms":           "at least 1s",
		"?srv=true":           "one domain",
	})
}

// A client that would not be used as its owner means it is refused, with what to do instead.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	changed := func(change func(*clientv3.Client)) *clientv3.Client {
		client := dial(t, servers.FreeAddr(t))
		change(client)
		return client
	}
	for want, client := range map[string]*clientv3.Client{
		"the client is nil":           nil,
		"has no connection":           clientv3.NewCtxClient(t.Context()),
		"no available endpoints":      changed(func(c *clientv3.Client) { c.SetEndpoints() }),
		"KV is a *namespace.kvPrefix": changed(func(c *clientv3.Client) { c.KV = namespace.NewKV(c.KV, "a/") }),
		"Lease is a *namespace.leasePref": changed(func(c *clientv3.Client) {
			c.Lease = namespace.NewLease(c.Lease, "a/")
		}),
		"Watcher is a *namespace.watcher": changed(func(c *clientv3.Client) {
			c.Watcher = namespace.NewWatcher(c.Watcher, "a/")
		}),
	} {
		_, err := etcdlock.New(client, nil)
		switch {
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("got %v, want a refusal that says %q", err, want)
		case strings.Contains(want, "namespace") && !strings.Contains(err.Error(), "set Options.Prefix"):
			t.Errorf("%v; it does not say what to do instead", err)
		}
	}
}

func TestOpenWithoutServer(t *testing.T) {
	t.Parallel()
	addr := servers.FreeAddr(t)
	if _, err := openSoon(t, "etcd://"+addr); err == nil || !strings.Contains(err.Error(), "reachable") {
		t.Errorf("got %v, want an error that says what to look at", err)
	}
}

func TestUserAndPassword(t *testing.T) {
	t.Parallel()
	one := []*servers.Server{servers.Etcd(t)}
	for _, args := range [][]string{
		{"user", "add", "root", "--new-user-password", "s3cret-root"}, {"user", "grant-role", "root", "root"},
		{"role", "add", "locks"}, {"role", "grant-permission", "locks", "--prefix=true", "readwrite", "/holdfast/"},
		{"user", "add", "app", "--new-user-password", "s3cret-app"}, {"user", "grant-role", "app", "locks"},
		{"auth", "enable"},
	} {
		if out, err := servers.Etcdctl(t, one, args...).CombinedOutput(); err != nil {
			t.Fatalf("etcdctl %q: %v: %s", args, err, out)
		}
	}
	addr := one[0].Addr
	d := mustOpen(t, "etcd://app:s3cret-app@"+addr)
	held := acquire(t, d, claim("job", long))
	release(t, d, held)

	_, err := openURL(t, "etcd://app:s3cret-wrong@"+addr)
	if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("with a wrong password: got %v, want a refusal without the password", err)
	}
	findings, err := driver.Check(limit(t), d, false)
	if err != nil || len(findings) == 0 {
		t.Errorf("Check as a user with few rights: %+v, %v", findings, err)
	}
	elsewhere := mustOpen(t, "etcd://app:s3cret-app@"+addr+"/elsewhere")
	if _, err := elsewhere.Request(limit(t), claim("job", long)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("without permission: got %v, want a refusal", err)
	}
}

// TestTLS puts a line that speaks TLS, and asks for the client's certificate, before the server.
// here are this machine's names.
var here = []string{"127.0.0.1", "etcd.example"}

func TestTLS(t *testing.T) {
	t.Parallel()
	authority := servers.NewAuthority(t)
	front := speakTLS(t, authority, server(t).Addr)
	d := mustOpen(t, secureURL(front, authority, certify(t, authority)))
	release(t, d, acquire(t, d, claim("job", long)))

	for what, url := range map[string]string{
		"without a certificate":        "etcd://" + front + "?ca=" + authority.File,
		"without the authority":        "etcd://" + front + "?tls=true",
		"without TLS to a server with": "etcd://" + front,
	} {
		if _, err := openSoon(t, url); err == nil {
			t.Errorf("%s: it opened", what)
		}
	}
}

// certify makes a certificate for a client.
func certify(t *testing.T, a *servers.Authority) servers.Certificate {
	t.Helper()
	return a.Certify(t, servers.Identity{Name: "a test"})
}

// secureURL is for clients who trust an authority and have this certificate.
func secureURL(addr string, a *servers.Authority, own servers.Certificate) string {
	return "etcd://" + addr + "?ca=" + a.File + "&cert=" + own.Cert + "&key=" + own.Key
}

// A client whose certificate is renewed goes on with the new one, and errors say which file is at fault.
func TestCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	authority := servers.NewAuthority(t)
	p := proxy.New(t, speakTLS(t, authority, server(t).Addr))
	own := authority.Certify(t, servers.Identity{Name: "a test", Until: time.Now().Add(2 * time.Second)})
	url := secureURL(p.Addr, authority, own)
	d := mustOpen(t, url)
	release(t, d, acquire(t, d, claim("job", long)))

	until(t, "the certificate has expired", func() bool {
		_, err := openSoon(t, url)
		return err != nil && strings.Contains(err.Error(), own.Cert)
	})
	replace(t, own, certify(t, authority))
	p.Reset()
	until(t, "the new certificate is used", func() bool {
		_, err := d.Request(limit(t), claim("job", long))
		return err == nil
	})

	replace(t, own, certify(t, servers.NewAuthority(t))) // nobody trusts that one
	if _, err := openSoon(t, url); err == nil || !strings.Contains(err.Error(), own.Cert) {
		t.Errorf("with a certificate that is not trusted: %v; want its file", err)
	}
}

// replace puts a new certificate and its key into the files of an old one.
func replace(t *testing.T, old, by servers.Certificate) {
	t.Helper()
	for from, to := range map[string]string{by.Cert: old.Cert, by.Key: old.Key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
}

// The servers' certificates are for another name than that of the address.
func TestServerName(t *testing.T) {
	t.Parallel()
	authority := servers.NewAuthority(t)
	front := speakTLS(t, authority, server(t).Addr)
	url := secureURL(strings.Replace(front, "127.0.0.1", "localhost", 1), authority, certify(t, authority))
	if _, err := openSoon(t, url); err == nil || !strings.Contains(err.Error(), "localhost") {
		t.Errorf("a certificate for etcd.example served localhost: %v", err)
	}
	d := mustOpen(t, url+"&servername=etcd.example")
	release(t, d, acquire(t, d, claim("job", long)))
}

// A client that knows one member at first follows those that there are, and avoids one that hangs.
func TestSync(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	d := mustOpen(t, "etcd://"+proxy.New(t, cluster[0].Addr).Addr+"?sync=1s")
	client := own(d).Client()
	until(t, "the client knows all members", func() bool { return len(client.Endpoints()) == 3 })
	driver.Sleep(t.Context(), time.Second) // it is looked up that often
	cluster[1].Pause(t)
	pace.Run(t, "beside a member that hangs", func(t *pace.T) {
		for range 2 * len(cluster) { // one after the other, in turn, if it went round
			limit := t.Scaled(5 * time.Second) // a connection that hangs is closed after 8 s
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := d.Queue(ctx, "job")
			cancel()
			if err != nil {
				t.Errorf("a member that hangs was asked, and no other: %v", err)
			}
		}
	})
}

// speakTLS listens for clients with a certificate of the authority, and passes on what they say to the server.
func speakTLS(t *testing.T, a *servers.Authority, server string) string {
	t.Helper()
	own := a.Certify(t, servers.Identity{Hosts: here})
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(a.File)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: trusted, NextProtos: []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go connect(client, server)
		}
	}()
	return l.Addr().String()
}

// connect copies both ways until one side ends.
func connect(client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
		both.Go(func() {
			io.Copy(to, from)
			to.Close()
		})
	}
	both.Wait()
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, opts := range []*etcdlock.Options{nil, foreign} {
		check(t, open(t, opts, servers.Etcd(t).Addr)) // of which nobody else compacts the history
	}
}

func check(t *testing.T, d *etcdlock.Driver) {
	t.Helper()
	findings, err := d.Check(limit(t), false)
	if err != nil {
		t.Fatal(err)
	}
	var facts strings.Builder
	for _, f := range findings {
		facts.WriteString(f.Fact + "\n")
		if (f.Level == driver.Fine) != (f.Advice == "") {
			t.Errorf("%+v: what is not well needs advice", f)
		}
	}
	for _, want := range []string{"runs etcd 3.", "1 members", "the store is young"} {
		if !strings.Contains(facts.String(), want) {
			t.Errorf("the findings do not say %q:\n%s", want, &facts)
		}
	}
}

// The doctor says how full the store is, and that nobody compacts its history.
func TestCheckHistory(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t, "--quota-backend-bytes", strconv.Itoa(32<<20)).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	const writers, writes = 16, 320
	big := strings.Repeat("x", 5000)
	each(writers, func(i int) {
		for range writes {
			if _, err := client.Put(limit(t), "unrelated", big); err != nil {
				t.Error(err)
				return
			}
		}
	})
	mustFind(t, d, driver.Warning, "was never compacted")
	mustFind(t, d, driver.Warning, "MiB of its quota of 32 MiB")
	now, err := client.Get(limit(t), "unrelated", clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(limit(t), now.Header.Revision); err != nil {
		t.Fatal(err)
	}
	mustFind(t, d, driver.Fine, "the history is compacted")
}

// mustFind fails unless a check says so.
func mustFind(t *testing.T, d *etcdlock.Driver, level driver.Level, fact string) {
	t.Helper()
	findings, err := d.Check(limit(t), false)
	tells := func(f driver.Finding) bool { return f.Level == level && strings.Contains(f.Fact, fact) }
	if err != nil || !slices.ContainsFunc(findings, tells) {
		t.Errorf("the findings are %+v, %v; want %q", findings, err, fact)
	}
}

func TestCheckWithoutAMajority(t *testing.T) {
	t.Parallel()
	cluster := servers.EtcdCluster(t, 3)
	d := open(t, nil, cluster[0].Addr, cluster[1].Addr, cluster[2].Addr)
	cluster[0].Kill(t)
	cluster[1].Kill(t)
	until(t, "the last server is said to have no leader", func() bool {
		findings, err := d.Check(limit(t), false)
		return err != nil && slices.ContainsFunc(findings, func(f driver.Finding) bool {
			return f.Level == driver.Unsafe && f.Fact == cluster[2].Addr+" knows no leader"
		})
	})
}

// Who opens a driver, or asks it for the first time, waits no longer than its context for a server that says nothing.
func TestSilentServerAndContext(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, server(t).Addr)
	p.BlackHole()
	asked := func(what string, ask func(context.Context) error) {
		pace.Run(t, what, func(t *pace.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			if err := ask(ctx); err == nil {
				t.Errorf("it was answered")
			}
			if took := time.Since(began); took > t.Scaled(4*time.Second) { // the limits of its own are 5 s
				t.Errorf("it took %v", took)
			}
		})
	}
	for _, url := range []string{"etcd://" + p.Addr, "etcd://app:pw@" + p.Addr} {
		asked("Open", func(ctx context.Context) error {
			_, err := drivertest.Open(ctx, url)
			return err
		})
	}
	d := open(t, nil, p.Addr)
	asked("Request", func(ctx context.Context) error {
		_, err := d.Request(ctx, claim("job", long))
		return err
	})
}
