package etcdlock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// openURL opens a driver as programs do.
func openURL(t testing.TB, url string) (driver.Driver, error) {
	t.Helper()
	return openWithin(limit(t), t, url)
}

// openSoon does not wait for long.
func openSoon(t testing.TB, url string) (driver.Driver, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(limit(t), time.Second)
	defer cancel()
	return openWithin(ctx, t, url)
}

func openWithin(ctx context.Context, t testing.TB, url string) (driver.Driver, error) {
	t.Helper()
	d, err := driver.Open(ctx, url)
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

func mustOpen(t testing.TB, url string) driver.Driver {
	t.Helper()
	d, err := openURL(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpen(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
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
	addr := servers.Etcd(t).Addr
	for url, want := range map[string]string{
		"etcd:///prefix":                         "no server",
		"etcd://" + addr + "?tsl=true":           "unknown parameter",
		"etcd://" + addr + "/a?prefix=/b":        "give one",
		"etcd://" + addr + "?layout=nested":      "unknown layout",
		"etcd://" + addr + "?ca=/no/such/file":   "parameter ca",
		"etcd://" + addr + "?cert=/no/such/file": "parameters cert and key",
		"etcd://" + addr + "?sync=1ms":           "at least 1s",
		"etcd://" + addr + "?srv=true":           "one domain",
		"etcd://no.such.invalid?srv=true":        "look up the etcd servers of no.such.invalid",
	} {
		if _, err := openURL(t, url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", url, err, want)
		}
	}
	if _, err := etcdlock.New(nil, nil); err == nil {
		t.Error("New takes no client for one")
	}
}

func TestOpenWithoutServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := openSoon(t, "etcd://"+l.Addr().String()); err == nil || !strings.Contains(err.Error(), "reachable") {
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
	findings, err := d.(*etcdlock.Driver).Check(limit(t))
	if err != nil || len(findings) == 0 {
		t.Errorf("Check as a user with few rights: %+v, %v", findings, err)
	}
	elsewhere := mustOpen(t, "etcd://app:s3cret-app@"+addr+"/elsewhere")
	if _, err := elsewhere.Request(limit(t), claim("job", long)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("without permission: got %v, want a refusal", err)
	}
}

// TestTLS puts a line that speaks TLS, and asks for the client's certificate, before the server.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority := newAuthority(t, dir)
	front := speakTLS(t, authority, servers.Etcd(t).Addr)
	file := func(name string) string { return filepath.Join(dir, name) }
	authority.sign(t, file("client"))

	identity := "&cert=" + file("client.pem") + "&key=" + file("client-key.pem")
	full := "etcd://" + front + "?ca=" + file("ca.pem") + identity
	d := mustOpen(t, full)
	release(t, d, acquire(t, d, claim("job", long)))

	for what, url := range map[string]string{
		"without a certificate":        "etcd://" + front + "?ca=" + file("ca.pem"),
		"without the authority":        "etcd://" + front + "?tls=true",
		"without TLS to a server with": "etcd://" + front,
	} {
		if _, err := openSoon(t, url); err == nil {
			t.Errorf("%s: it opened", what)
		}
	}
}

// A client whose certificate is renewed goes on with the new one, and errors say which file is at fault.
func TestCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority := newAuthority(t, dir)
	p := proxy.New(t, speakTLS(t, authority, servers.Etcd(t).Addr))
	file := func(name string) string { return filepath.Join(dir, name) }
	authority.signUntil(t, file("client"), time.Now().Add(2*time.Second))
	identity := "&cert=" + file("client.pem") + "&key=" + file("client-key.pem")
	url := "etcd://" + p.Addr + "?ca=" + file("ca.pem") + identity
	d := mustOpen(t, url)
	release(t, d, acquire(t, d, claim("job", long)))

	until(t, "the certificate has expired", func() bool {
		_, err := openSoon(t, url)
		return err != nil && strings.Contains(err.Error(), file("client.pem"))
	})
	authority.sign(t, file("client"))
	p.Reset()
	until(t, "the new certificate is used", func() bool {
		_, err := d.Request(limit(t), claim("job", long))
		return err == nil
	})

	newAuthority(t, dir).sign(t, file("client")) // nobody trusts that one
	if _, err := openSoon(t, url); err == nil || !strings.Contains(err.Error(), file("client.pem")) {
		t.Errorf("with a certificate that is not trusted: %v; want its file", err)
	}
}

// The servers' certificates are for another name than that of the address.
func TestServerName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority := newAuthority(t, dir)
	front := speakTLS(t, authority, servers.Etcd(t).Addr)
	authority.sign(t, filepath.Join(dir, "client"))
	url := "etcd://" + strings.Replace(front, "127.0.0.1", "localhost", 1) + "?ca=" + filepath.Join(dir, "ca.pem") +
		"&cert=" + filepath.Join(dir, "client.pem") + "&key=" + filepath.Join(dir, "client-key.pem")
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
	client := d.(*etcdlock.Driver).Client()
	until(t, "the client knows all members", func() bool { return len(client.Endpoints()) == 3 })
	driver.Sleep(t.Context(), time.Second) // it is looked up that often
	cluster[1].Pause(t)
	for range 2 * len(cluster) { // one after the other, in turn, if it went round
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // a connection that hangs is closed after 8 s
		_, err := d.Queue(ctx, "job")
		cancel()
		if err != nil {
			t.Errorf("a member that hangs was asked, and no other: %v", err)
		}
	}
}

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) authority {
	t.Helper()
	a := authority{cert: template(1), key: newKey(t)}
	a.cert.IsCA, a.cert.KeyUsage = true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", der)
	return a
}

// sign writes a certificate and its key into files, and returns both.
func (a authority) sign(t *testing.T, file string) tls.Certificate {
	t.Helper()
	return a.signUntil(t, file, time.Now().Add(time.Hour))
}

// signUntil does so for a certificate that expires then.
func (a authority) signUntil(t *testing.T, file string, end time.Time) tls.Certificate {
	t.Helper()
	key, unsigned := newKey(t), template(2)
	unsigned.NotAfter = end
	der, err := x509.CreateCertificate(rand.Reader, unsigned, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file+".pem", "CERTIFICATE", der)
	write(t, file+"-key.pem", "EC PRIVATE KEY", private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func template(serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"etcd.example"},
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// speakTLS listens for clients with a certificate of the authority, and passes on what they say to the server.
func speakTLS(t *testing.T, a authority, server string) (addr string) {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AddCert(mustParse(t, a))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{a.sign(t, filepath.Join(t.TempDir(), "server"))},
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

func mustParse(t *testing.T, a authority) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
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
	d := open(t, nil, servers.Etcd(t).Addr)
	findings, err := d.Check(limit(t))
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
	for _, want := range []string{"runs etcd 3.", "1 members"} {
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
	findings, err := d.Check(limit(t))
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
		findings, err := d.Check(limit(t))
		return err != nil && slices.ContainsFunc(findings, func(f driver.Finding) bool {
			return f.Level == driver.Unsafe && f.Fact == cluster[2].Addr+" knows no leader"
		})
	})
}
