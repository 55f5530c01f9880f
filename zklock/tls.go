package zklock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// dialer is how to connect to a server.
func (o *Options) dialer() zk.Dialer {
	connect := o.Dial
	if connect == nil {
		connect = net.DialTimeout
	}
	if o.TLS == nil {
		return connect
	}
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		return encrypt(connect, o.TLS, network, address, timeout)
	}
}

// encrypt connects and speaks TLS. The server's certificate must be for the host of the address, unless the configuration
// names another.
func encrypt(connect zk.Dialer, config *tls.Config, network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := connect(network, address, timeout)
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return encrypted, nil
}

// pemFiles are the files that a URL names for TLS, and the name that certificates of servers must have.
type pemFiles struct{ ca, cert, key, server string }

func parseFiles(p *driver.Params) pemFiles {
	return pemFiles{ca: p.String("ca", ""), cert: p.String("cert", ""), key: p.String("key", ""), server: p.String("servername", "")}
}

// config returns nil for connections that are not encrypted. The files are read now, so that mistakes are told, and again
// for each connection: certificates are renewed while a program runs.
func (f pemFiles) config(encrypt bool) (*tls.Config, error) {
	switch {
	case !encrypt && f != pemFiles{}:
		return nil, errors.New("the parameters ca, cert, key and servername are for TLS; set tls=true")
	case !encrypt:
		return nil, nil
	case (f.cert == "") != (f.key == ""):
		return nil, errors.New("the parameters cert and key go together: files with the client's certificate and its key")
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.server}
	if f.cert != "" {
		if _, err := f.pair(nil); err != nil {
			return nil, err
		}
		config.GetClientCertificate = f.pair
	}
	if f.ca != "" {
		if _, err := f.authorities(); err != nil {
			return nil, err
		}
		config.InsecureSkipVerify = true // by the next line it is verified all the same, with the file as it is then
		config.VerifyConnection = f.verify
	}
	return config, nil
}

func (f pemFiles) pair(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("parameters cert and key: %w", err)
	}
	return &pair, nil
}

func (f pemFiles) authorities() (*x509.CertPool, error) {
	text, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("parameter ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("parameter ca: %s has no certificate in PEM form", f.ca)
	}
	return pool, nil
}

// verify does what the standard library does, with the authorities that the file has now.
func (f pemFiles) verify(state tls.ConnectionState) error {
	pool, err := f.authorities()
	if err != nil {
		return err
	}
	opts := x509.VerifyOptions{Roots: pool, DNSName: state.ServerName, Intermediates: x509.NewCertPool()}
	for _, cert := range state.PeerCertificates[1:] {
		opts.Intermediates.AddCert(cert)
	}
	if _, err := state.PeerCertificates[0].Verify(opts); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}
