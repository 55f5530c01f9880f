// Package pemfile reads the files in PEM that URLs of backends name for TLS, by the parameters ca, cert and key. Its
// errors name the parameter.
package pemfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Authorities returns the authorities whose certificates are in a file, and what the file has.
func Authorities(ca string) (*x509.CertPool, []byte, error) {
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, nil, fmt.Errorf("parameter ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, nil, fmt.Errorf("parameter ca: %s has no certificate in PEM form", ca)
	}
	return pool, text, nil
}

// Pair returns a client's certificate with its key.
func Pair(cert, key string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("parameters cert and key: %w", err)
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
