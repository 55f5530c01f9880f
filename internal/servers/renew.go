package servers

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"os"
	"testing"
	"time"
)

// Renew puts a new certificate and its key into the files of an old one. Each file changes at once, so that who reads
// both from one, which is Both, always finds a pair.
func (a *Authority) Renew(t testing.TB, old Certificate, who Identity) {
	t.Helper()
	next := a.Certify(t, who)
	for from, to := range map[string]string{next.Cert: old.Cert, next.Key: old.Key, next.Both: old.Both} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
}

// Revoke adds certificates to the list of those that are revoked, by their serial numbers.
func (a *Authority) Revoke(t testing.TB, serials ...*big.Int) {
	t.Helper()
	for _, n := range serials {
		a.revoked = append(a.revoked, x509.RevocationListEntry{SerialNumber: n, RevocationTime: time.Now()})
	}
	list := &x509.RevocationList{
		Number: big.NewInt(int64(len(a.revoked) + 1)), RevokedCertificateEntries: a.revoked,
		ThisUpdate: time.Now().Add(-48 * time.Hour), NextUpdate: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	next := a.Revoked + ".next"
	if err == nil {
		err = os.WriteFile(next, der, 0o600)
	}
	if err == nil {
		err = os.Rename(next, a.Revoked)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Serial is the number of the certificate that the files have now.
func (c Certificate) Serial(t testing.TB) *big.Int {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.Both, c.Both)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf.SerialNumber
}
