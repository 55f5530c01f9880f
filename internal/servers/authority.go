package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority signs certificates that nobody believes who has not its own, which is in File. Those that it has revoked
// are listed in Revoked.
type Authority struct {
	File    string // PEM
	Revoked string // DER
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	revoked []x509.RevocationListEntry
}

// A Certificate is one with its key, as a file for each and one for both.
type Certificate struct{ Cert, Key, Both string }

// An Identity is what a certificate says.
type Identity struct {
	Name    string   // of a client
	Hosts   []string // names and addresses of a server
	Expired bool
	Until   time.Time // when it expires; zero: long after the test
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t), cert: template(Identity{Name: "an authority"})}
	a.cert.IsCA, a.cert.KeyUsage, a.cert.SubjectKeyId = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, []byte("key")
	dir := t.TempDir()
	a.File, a.Revoked = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "revoked.der")
	writePEM(t, a.File, "CERTIFICATE", a.sign(t, a.cert, a.key))
	a.Revoke(t)
	return a
}

// Certify makes a certificate that the authority has signed.
func (a *Authority) Certify(t testing.TB, who Identity) Certificate {
	t.Helper()
	dir, key := t.TempDir(), newKey(t)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	der := a.sign(t, template(who), key)
	c := Certificate{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "both.pem")}
	writePEM(t, c.Cert, "CERTIFICATE", der)
	writePEM(t, c.Key, "PRIVATE KEY", private)
	writePEM(t, c.Both, "PRIVATE KEY", private)
	writePEM(t, c.Both, "CERTIFICATE", der)
	return c
}

func (a *Authority) sign(t testing.TB, cert *x509.Certificate, of *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, of.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func template(who Identity) *x509.Certificate {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: who.Name},
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	switch {
	case who.Expired:
		c.NotAfter = time.Now().Add(-24 * time.Hour)
	case !who.Until.IsZero():
		c.NotAfter = who.Until
	}
	for _, host := range who.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, host)
		}
	}
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// writePEM appends to a file.
func writePEM(t testing.TB, file, kind string, der []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := pem.Encode(f, &pem.Block{Type: kind, Bytes: der}); err != nil {
		t.Fatal(err)
	}
}
