package nemesis

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	_ "github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/redislock"
	"github.com/holdfast-go/holdfast/sqllock"
)

func init() { sqllock.RegisterTLS(mysql.RegisterTLSConfig) }

// encrypted are the servers whose certificates are renewed.
var encrypted = map[string]func(testing.TB) *servers.Secure{
	"redis":    func(t testing.TB) *servers.Secure { return servers.SecureRedis(t, servers.NewClock(t)) },
	"etcd":     servers.SecureEtcd,
	"mariadb":  servers.SecureMariaDB,
	"postgres": func(t testing.TB) *servers.Secure { return servers.SecurePostgres(t, servers.NewClock(t)) },
}

// Who connects after a certificate was renewed sees another, after a crash of the server too.
func TestServerShowsItsNewCertificate(t *testing.T) {
	for name, start := range encrypted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			first := s.Shows(t)
			s.Renew(t)
			second := s.Shows(t)
			if second.Cmp(first) == 0 {
				t.Errorf("before and after that it shows the one with the number %d", first)
			}
			s.Kill(t)
			s.Restart(t)
			if got := s.Shows(t); got.Cmp(second) != 0 {
				t.Errorf("after a crash it shows the one with the number %d, want %d", got, second)
			}
		})
	}
}

// When certificates are renewed all connections end, and new ones are let in; while one has expired none is.
func TestCertificates(t *testing.T) {
	for name := range encrypted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, _ := Named(name)
			s := k.Start(t)
			mustLetIn(t, s)
			connection, err := net.Dial("tcp", s.Addrs[0])
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()

			begin(t, s, Renewed)()
			if err := silence(connection); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a connection outlived that certificates were renewed")
			}
			mustLetIn(t, s)

			end := begin(t, s, Expired)
			err = letsIn(t, s.URL(s.Addrs), 10*time.Second)
			if err == nil || !strings.Contains(err.Error(), "expired") {
				t.Errorf("with a certificate that has expired: %v", err)
			}
			end()
			mustLetIn(t, s)
		})
	}
}

// With the certificate that a client had before it was renewed nobody is let in.
func TestOldCertificateOfClients(t *testing.T) {
	s := etcd(t)
	url := s.URL(s.Addrs)
	_, own, _ := strings.Cut(url, "&cert=")
	own, _, _ = strings.Cut(own, "&")
	text, err := os.ReadFile(own)
	old := filepath.Join(t.TempDir(), "old.pem")
	if err == nil {
		err = os.WriteFile(old, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	withOld := strings.ReplaceAll(url, own, old)
	if err := letsIn(t, withOld, time.Minute); err != nil {
		t.Fatal(err)
	}
	begin(t, s, Renewed)()
	mustLetIn(t, s)
	if err := letsIn(t, withOld, 10*time.Second); err == nil {
		t.Error("the old certificate of a client still lets it in")
	}
}

func begin(t *testing.T, s *Store, name string) (end func()) {
	t.Helper()
	f, ok := s.Fault(name)
	if !ok {
		t.Fatalf("%s knows no fault %q: %s", s.Name, name, s.Absent[name])
	}
	return f.Begin(t)
}

// silence reads until a connection is broken off, or for half as long as any server waits for who says nothing.
func silence(c net.Conn) (err error) {
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	for buffer := make([]byte, 1024); err == nil; {
		_, err = c.Read(buffer)
	}
	return err
}

func mustLetIn(t *testing.T, s *Store) {
	t.Helper()
	if err := letsIn(t, s.URL(s.Addrs), time.Minute); err != nil {
		t.Error(err)
	}
}

// letsIn opens a driver, and closes it.
func letsIn(t *testing.T, url string, within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	d, err := drivertest.Open(ctx, url)
	if err == nil {
		err = d.Close()
	}
	return err
}
