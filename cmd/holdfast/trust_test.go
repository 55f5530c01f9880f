//go:build linux

package main

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Doctor says what is wrong with a server's certificate and, on every engine, which parameter of the URL or which step
// mends it.
func TestDoctorOnCertificates(t *testing.T) {
	t.Parallel()
	authority := servers.NewAuthority(t)
	good := authority.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}})
	old := authority.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}, Expired: true})
	other := authority.Certify(t, servers.Identity{Hosts: []string{"db.example"}})
	for name, e := range map[string]struct {
		scheme    string
		rest      string // of the URL behind the host, with tls on
		ca        string // the parameter that names the authority
		host      string // what to do about a certificate for another host
		handshake func(net.Conn) error
	}{
		"redis":    {"rediss", "?", "ca=", "servername=", nil},
		"cluster":  {"redis-cluster", "?tls=true&", "ca=", "servername=", nil},
		"sentinel": {"redis-sentinel", "/m?tls=true&", "ca=", "servername=", nil},
		"redlock":  {"redlock", "?tls=true&", "ca=", "servername=", nil},
		"etcd":     {"etcd", "?tls=true&", "ca=", "servername=", nil},
		"zk":       {"zk", "?tls=true&", "ca=", "servername=", nil},
		"mysql":    {"mysql", "/db?tls=true&", "ca=", "servername=", speakMySQL},
		"postgres": {"postgres", "/db?sslmode=verify-full&", "sslrootcert=", "sslmode=verify-ca", speakPostgres},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				name   string
				cert   servers.Certificate
				ca     bool
				advice string
			}{
				{"unknown authority", good, false, e.ca + " in the URL"},
				{"expired", old, true, "renew the server's certificate"},
				{"another host", other, true, e.host},
			} {
				addr := listenWithTLS(t, c.cert, e.handshake)
				hosts := addr
				if e.scheme == "redlock" {
					hosts += "," + listenWithTLS(t, c.cert, e.handshake) + "," + listenWithTLS(t, c.cert, e.handshake)
				}
				url := e.scheme + "://" + hosts + e.rest
				if e.scheme == "postgres" || e.scheme == "mysql" {
					url = e.scheme + "://app@" + hosts + e.rest
				}
				if c.ca {
					url += e.ca + authority.File
				}
				code, d := examine(t, strings.TrimRight(url, "?&"))
				last := d.Findings[len(d.Findings)-1]
				if code != unsafe || !strings.Contains(last.Fact, "certificate") ||
					!strings.Contains(last.Advice, c.advice) {
					t.Errorf("%s: %q, advice %q; want %q", c.name, last.Fact, last.Advice, c.advice)
				}
			}
		})
	}
}

// listenWithTLS is a server that shows a certificate, after a handshake of its own.
func listenWithTLS(t *testing.T, cert servers.Certificate, handshake func(net.Conn) error) (addr string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert.Cert, cert.Key)
	ok(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if handshake != nil && handshake(conn) != nil {
					return
				}
				_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake() // it is refused
			}()
		}
	}()
	return listener.Addr().String()
}

// speakPostgres agrees to TLS as PostgreSQL does.
func speakPostgres(conn net.Conn) error {
	if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
		return err
	}
	_, err := conn.Write([]byte("S"))
	return err
}

// speakMySQL agrees to TLS as MySQL does.
func speakMySQL(conn net.Conn) error {
	const protocol41, ssl, secure, plugin = 1 << 9, 1 << 11, 1 << 15, 1 << 19
	flags := uint32(protocol41 | ssl | secure | plugin)
	hello := []byte("\x0a8.0.36\x00\x01\x00\x00\x00aaaaaaaa\x00")
	hello = binary.LittleEndian.AppendUint16(hello, uint16(flags))
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, uint16(flags>>16))
	hello = append(append(hello, 21), make([]byte, 10)...)
	hello = append(hello, "bbbbbbbbbbbb\x00mysql_native_password\x00"...)
	if _, err := conn.Write(append([]byte{byte(len(hello)), 0, 0, 0}, hello...)); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, 4+32))
	return err
}
