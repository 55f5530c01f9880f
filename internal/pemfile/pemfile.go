// Package pemfile reads the files in PEM that URLs of backends name for TLS, by the parameters ca, cert and key. Its
// errors name the parameter.
package pemfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// Files are those that a URL names for TLS, and the name that certificates of servers must have. The zero value names
// none.
type Files struct{ CA, Cert, Key, Server string }

// Named reads the parameters ca, cert, key and servername of a URL.
func Named(param func(name, byDefault string) string) Files {
	return Files{CA: param("ca", ""), Cert: param("cert", ""), Key: param("key", ""), Server: param("servername", "")}
}

// Config returns settings for TLS before any file is read: nil for connections that are not encrypted, which is refused
// where files are named. The error then says how to turn encryption on.
func (f Files) Config(encrypt bool, turnOn string) (*tls.Config, error) {
	switch {
	case !encrypt && f != Files{}:
		return nil, errors.New("the parameters ca, cert, key and servername are for TLS; " + turnOn)
	case !encrypt:
		return nil, nil
	}
	if err := Together(f.Cert, f.Key); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.Server}, nil
}

// Authorities returns the authorities whose certificates are in a file.
func Authorities(ca string) (*x509.CertPool, error) {
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("parameter ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("parameter ca: %s has no certificate in PEM form", ca)
	}
	return pool, nil
}

// Load has config trust the authorities that are named, which are read once, and show the client's certificate, as
// [Present] says.
func (f Files) Load(config *tls.Config) error {
	if f.CA != "" {
		authorities, err := Authorities(f.CA)
		if err != nil {
			return err
		}
		config.RootCAs = authorities
	}
	return Present(config, f.Cert, f.Key)
}

// Present makes config show a client's certificate where its files are named. They are read now, so that mistakes are
// told, and again for each connection: certificates are renewed while programs run.
func Present(config *tls.Config, cert, key string) error {
	if cert == "" && key == "" {
		return nil
	}
	if _, err := pair(cert, key); err != nil {
		return err
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair(cert, key) }
	return nil
}

// pair returns a client's certificate with its key. One that has ended is refused here: not every server says why.
func pair(cert, key string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("parameters cert and key: %w", err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		return nil, fmt.Errorf("the client's certificate %s is valid from %s to %s only; renew it", cert,
			pair.Leaf.NotBefore.Format(time.DateTime), pair.Leaf.NotAfter.Format(time.DateTime))
	}
	return &pair, nil
}

// Together reports that one of cert and key is given without the other.
func Together(cert, key string) error {
	if (cert == "") != (key == "") {
		return errors.New("the parameters cert and key go together: files with the client's certificate and its key")
	}
	return nil
}
