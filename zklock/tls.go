package zklock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/holdfast-go/holdfast/internal/pemfile"
)

// A connector connects to a server.
type connector func(ctx context.Context, s server, timeout time.Duration) (net.Conn, error)

// connector is how to connect.
func (o *Options) connector() connector {
	return func(ctx context.Context, s server, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := o.dial(ctx, s.addr, timeout)
		if err != nil || o.TLS == nil {
			return conn, err
		}
		return encrypt(ctx, conn, o.TLS, s)
	}
}

// dial connects. The program's own way to do so knows no context.
func (o *Options) dial(ctx context.Context, addr string, timeout time.Duration) (net.Conn, error) {
	if o.Dial != nil {
		return o.Dial("tcp", addr, timeout)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", addr)
}

// encrypt speaks TLS. The server's certificate must be for the host that the server is called by, unless the
// configuration names another.
func encrypt(ctx context.Context, conn net.Conn, config *tls.Config, s server) (net.Conn, error) {
	config = config.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(s.name)
	}
	if verify := config.VerifyConnection; verify != nil {
		config.VerifyConnection = func(state tls.ConnectionState) error {
			state.ServerName = config.ServerName // the state has no name where that is an address
			return verify(state)
		}
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("it hangs up; is that its secureClientPort? (%w)", err)
		}
		return nil, fmt.Errorf("TLS with %s: %w", s.name, err)
	}
	return encrypted, nil
}

// pemFiles are the files that a URL names.
type pemFiles struct{ pemfile.Files }

// config returns nil for connections that are not encrypted. The files are read now, so that mistakes are told,
// and again for each connection: certificates are renewed while a program runs.
func (f pemFiles) config(encrypt bool) (*tls.Config, error) {
	config, err := f.Config(encrypt, "set tls=true")
	if config == nil {
		return nil, err
	}
	if err := pemfile.Present(config, f.Cert, f.Key); err != nil {
		return nil, err
	}
	if f.CA != "" {
		if _, err := pemfile.Authorities(f.CA); err != nil {
			return nil, err
		}
		config.InsecureSkipVerify = true // by the next line it is verified all the same, with the file as it is then
		config.VerifyConnection = f.verify
	}
	return config, nil
}

// verify does what the standard library does, with the authorities that the file has now.
func (f pemFiles) verify(state tls.ConnectionState) error {
	pool, err := pemfile.Authorities(f.CA)
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
