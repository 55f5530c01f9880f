package zklock_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// secureZooKeeper starts a server that takes connections with TLS from clients that it knows, at the address
// returned.
func secureZooKeeper(t *testing.T, ca string, own identity) (addr string) {
	t.Helper()
	addr = freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	servers.ZooKeeper(t, "secureClientPortAddress=127.0.0.1", "secureClientPort="+port,
		"-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.location="+own.both, "ssl.keyStore.type=PEM",
		"ssl.trustStore.location="+ca, "ssl.trustStore.type=PEM",
		"ssl.hostnameVerification=false")
	until(t, "it speaks TLS, whose first time takes long", func() bool {
		dialer := &net.Dialer{Timeout: 20 * time.Second}
		conn, err := tls.DialWithDialer(dialer, "tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			conn.Close()
		}
		return err == nil || strings.Contains(err.Error(), "remote error") // it misses our certificate
	})
	return addr
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, other := newAuthority(t), newAuthority(t)
	client := ours.identify(t, time.Hour)
	addr := secureZooKeeper(t, ours.file, ours.identify(t, time.Hour, "zk.example"))
	expired := secureZooKeeper(t, ours.file, ours.identify(t, -time.Minute, "zk.example"))
	_, port, _ := net.SplitHostPort(addr)
	both := "&cert=" + client.cert + "&key=" + client.key
	secure := "?tls=true&ca=" + ours.file + both
	for name, tt := range map[string]struct{ url, want string }{
		"certificates of both":   {"zk://" + addr + secure, ""},
		"by the server's name":   {"zk://localhost:" + port + secure + "&servername=zk.example", ""},
		"by another name":        {"zk://localhost:" + port + secure, "not localhost"},
		"under another name":     {"zk://" + addr + secure + "&servername=other.example", "not other.example"},
		"an expired certificate": {"zk://" + expired + secure, "expired"},
		"another authority":      {"zk://" + addr + "?tls=true&ca=" + other.file + both, "unknown authority"},
		"no authority":           {"zk://" + addr + "?tls=true" + both, "unknown authority"},
		"no certificate of ours": {"zk://" + addr + "?tls=true&ca=" + ours.file, "certificate"},
		"without TLS":            {"zk://" + addr, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := openURL(t, tt.url)
			switch {
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case tt.want == "" && err != nil:
				t.Error(err)
			case err == nil:
				release(t, d, acquire(t, d, claim(name, long)))
			}
		})
	}
}

// Certificates are renewed while a program runs, which needs them when it connects again.
func TestCertificatesAreReadAnew(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	first, next := ours.identify(t, time.Hour), ours.identify(t, time.Hour)
	addr := secureZooKeeper(t, ours.file, ours.identify(t, time.Hour))
	d := mustOpen(t, "zk://"+addr+"?tls=true&ca="+ours.file+"&cert="+first.cert+"&key="+first.key)
	release(t, d, acquire(t, d, claim("job", long)))
	for from, to := range map[string]string{next.cert: first.cert, next.key: first.key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	release(t, d, acquire(t, d, claim("job", longest))) // another TTL, another connection
	if err := os.Remove(ours.file); err != nil {
		t.Fatal(err)
	}
	_, err := openURL(t, "zk://"+addr+"?tls=true&ca="+ours.file)
	if err == nil || !strings.Contains(err.Error(), "parameter ca") {
		t.Errorf("without the file: got %v", err)
	}
}

// An authority signs certificates. Its own is in a file.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

// An identity is a certificate and its key, in a file for each and in one for both.
type identity struct{ cert, key, both string }

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{cert: template(time.Hour), key: newKey(t), file: filepath.Join(t.TempDir(), "ca.pem")}
	a.cert.IsCA, a.cert.KeyUsage = true, x509.KeyUsageCertSign
	writePEM(t, a.file, "CERTIFICATE", a.sign(t, a.cert, a.key))
	return a
}

// identify makes an identity for this machine, and for these names, that is valid for so long.
func (a authority) identify(t *testing.T, valid time.Duration, names ...string) identity {
	t.Helper()
	dir, cert, key := t.TempDir(), template(valid), newKey(t)
	cert.DNSNames, cert.IPAddresses = names, []net.IP{net.IPv4(127, 0, 0, 1)}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	i := identity{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "both.pem")}
	der := a.sign(t, cert, key)
	writePEM(t, i.cert, "CERTIFICATE", der)
	writePEM(t, i.key, "PRIVATE KEY", text)
	writePEM(t, i.both, "PRIVATE KEY", text)
	writePEM(t, i.both, "CERTIFICATE", der)
	return i
}

func (a authority) sign(t *testing.T, cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func template(valid time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "a test"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
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

// writePEM appends to a file.
func writePEM(t *testing.T, name, kind string, text []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pem.Encode(f, &pem.Block{Type: kind, Bytes: text}); err != nil {
		t.Fatal(err)
	}
}
