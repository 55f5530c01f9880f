package pemfile_test

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/pemfile"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A certificate that was renewed in its files is shown on the next connection, and one that cannot be read is told.
func TestPresent(t *testing.T) {
	authority := servers.NewAuthority(t)
	own := authority.Certify(t, servers.Identity{Name: "a test"})
	config := &tls.Config{InsecureSkipVerify: true}
	if err := pemfile.Present(config, own.Both, own.Both); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, want := shown(t, own, config), own.Serial(t).String(); got != want {
			t.Errorf("it shows the certificate %s, want %s", got, want)
		}
		authority.Renew(t, own, servers.Identity{Name: "a test"})
	}
	for _, files := range [][2]string{{"/no/such/file", own.Key}, {own.Cert, ""}, {"", own.Key}} {
		if err := pemfile.Present(config, files[0], files[1]); err == nil ||
			!strings.Contains(err.Error(), "parameters cert and key") {
			t.Errorf("%q: %v", files, err)
		}
	}
}

// shown is the serial number of the certificate that a client with config shows to a server.
func shown(t *testing.T, server servers.Certificate, config *tls.Config) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	go tls.Client(ours, config).Handshake()
	conn := tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert})
	defer conn.Close()
	defer ours.Close() // before, or it waits for somebody to read that it is closed
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}
