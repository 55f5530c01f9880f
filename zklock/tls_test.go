package zklock_test

import (
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// secureZooKeeper starts a server that takes connections with TLS from clients that it knows, at the address
// returned.
func secureZooKeeper(t *testing.T, ca string, own servers.Certificate) (addr string) {
	t.Helper()
	addr = servers.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	servers.ZooKeeper(t, "secureClientPortAddress=127.0.0.1", "secureClientPort="+port,
		"-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.location="+own.Both, "ssl.keyStore.type=PEM",
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

func TestTLS(t *testing.T) {
	t.Parallel()
	ours, other := servers.NewAuthority(t), servers.NewAuthority(t)
	client := ours.Certify(t, servers.Identity{Name: "a test"})
	here := []string{"127.0.0.1", "zk.example"}
	addr := secureZooKeeper(t, ours.File, ours.Certify(t, servers.Identity{Hosts: here}))
	expired := secureZooKeeper(t, ours.File, ours.Certify(t, servers.Identity{Hosts: here, Expired: true}))
	_, port, _ := net.SplitHostPort(addr)
	both := "&cert=" + client.Cert + "&key=" + client.Key
	secure := "?tls=true&ca=" + ours.File + both
	for name, tt := range map[string]struct{ url, want string }{
		"certificates of both":   {"zk://" + addr + secure, ""},
		"by the server's name":   {"zk://localhost:" + port + secure + "&servername=zk.example", ""},
		"by another name":        {"zk://localhost:" + port + secure, "not localhost"},
		"under another name":     {"zk://" + addr + secure + "&servername=other.example", "not other.example"},
		"an expired certificate": {"zk://" + expired + secure, "expired"},
		"another authority":      {"zk://" + addr + "?tls=true&ca=" + other.File + both, "unknown authority"},
		"no authority":           {"zk://" + addr + "?tls=true" + both, "unknown authority"},
		"no certificate of ours": {"zk://" + addr + "?tls=true&ca=" + ours.File, "certificate"},
		"without TLS":            {"zk://" + addr, "does not answer"},
		"a port without TLS":     {"zk://" + zklock.Server(t).Addr + secure, "secureClientPort"},
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
	ours := servers.NewAuthority(t)
	first, next := ours.Certify(t, servers.Identity{Name: "a test"}), ours.Certify(t, servers.Identity{Name: "a test"})
	addr := secureZooKeeper(t, ours.File, ours.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}}))
	d := mustOpen(t, "zk://"+addr+"?tls=true&ca="+ours.File+"&cert="+first.Cert+"&key="+first.Key)
	release(t, d, acquire(t, d, claim("job", long)))
	for from, to := range map[string]string{next.Cert: first.Cert, next.Key: first.Key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	release(t, d, acquire(t, d, claim("job", longest))) // another TTL, another connection
	if err := os.Remove(ours.File); err != nil {
		t.Fatal(err)
	}
	_, err := openURL(t, "zk://"+addr+"?tls=true&ca="+ours.File)
	if err == nil || !strings.Contains(err.Error(), "parameter ca") {
		t.Errorf("without the file: got %v", err)
	}
}
