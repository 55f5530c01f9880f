package etcdlock

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// TLS names PEM files for connections by TLS. The zero value trusts the system's authorities and has no certificate.
type TLS struct {
	CA         string // certificates of authorities to trust instead of the system's
	Cert, Key  string // the client's certificate and key
	ServerName string // the name that the servers' certificates are for; empty: the host of their address
}

// Apply makes the clients of a configuration speak TLS with these files. The client's certificate and key are read now,
// and again for each connection, so they can be renewed while programs run. The authorities are read once, now. An
// error about a certificate names its file.
func (t TLS) Apply(config *clientv3.Config) error {
	config.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.ServerName != "" { // else every connection asks for the host of its address
		config.DialOptions = append(config.DialOptions, grpc.WithAuthority(t.ServerName))
	}
	if err := t.trust(config.TLS); err != nil {
		return err
	}
	return t.identify(config.TLS)
}

func (t TLS) identify(config *tls.Config) error {
	if t.Cert == "" && t.Key == "" {
		return nil
	}
	if _, err := t.pair(); err != nil {
		return fmt.Errorf("parameters cert and key: %w", err)
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.pair() }
	return nil
}

func (t TLS) trust(config *tls.Config) error {
	if t.CA == "" {
		return nil
	}
	authorities, _, err := pemfile.Authorities(t.CA)
	config.RootCAs = authorities
	return err
}

// pair reads the client's certificate and key.
func (t TLS) pair() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("the client's certificate %s with the key %s: %w", t.Cert, t.Key, err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		return nil, fmt.Errorf("the client's certificate %s is valid from %s to %s only; renew it", t.Cert,
			pair.Leaf.NotBefore.Format(time.DateTime), pair.Leaf.NotAfter.Format(time.DateTime))
	}
	return &pair, nil
}

// hint names the files, for an error that may be about them.
func (t TLS) hint(err error) string {
	if t == (TLS{}) || !isAboutTLS(err) {
		return ""
	}
	about := ""
	if t.CA != "" {
		about += "; the authorities are those in " + t.CA
	}
	if t.Cert != "" {
		about += "; the client's certificate is " + t.Cert
	}
	if t.ServerName != "" {
		about += "; the servers should be called " + t.ServerName
	}
	return about
}

// isAboutTLS reports whether the two sides did not agree. gRPC hands on no more than the text of such an error.
func isAboutTLS(err error) bool {
	return err != nil && (errors.As(err, new(*tls.CertificateVerificationError)) ||
		strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), "x509: "))
}
