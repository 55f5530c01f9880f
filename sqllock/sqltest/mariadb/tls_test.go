package mariadb

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"

	"github.com/go-sql-driver/mysql"
)

func init() { sqllock.RegisterTLS(mysql.RegisterTLSConfig) }

// encrypted starts a server with a certificate, and makes a user who is let in by TLS alone, and one who
// needs a certificate.
func encrypted(t *testing.T, a *servers.Authority, own servers.Certificate) (addr string) {
	t.Helper()
	addr = servers.MariaDB(t, "--ssl-ca="+a.File, "--ssl-cert="+own.Cert, "--ssl-key="+own.Key).Addr
	if err := sqllock.MigrateURL(t.Context(), "mysql://root@"+addr+"/test"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "root@tcp("+addr+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for user, need := range map[string]string{"encrypted": "SSL", "certified": "X509"} {
		for _, statement := range []string{
			fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED BY '%s' REQUIRE %s", user, claimstest.Password, need),
			fmt.Sprintf("GRANT ALL ON test.* TO %s@'%%'", user),
		} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	return addr
}

// TLS to a server whose authority nobody else knows, or whose certificate is of another name or has expired.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := servers.NewAuthority(t)
	good := encrypted(t, a, a.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1", "db.example"}}))
	old := encrypted(t, a, a.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}, Expired: true}))
	plain := servers.MariaDB(t, "--loose-skip-ssl", "--loose-tls-version=").Addr
	ours := a.Certify(t, servers.Identity{Name: "certified"})
	other := servers.NewAuthority(t)
	named := strings.Replace(good, "127.0.0.1", "localhost", 1)

	at := func(user, addr string, params ...string) string {
		u := url.URL{Scheme: "mysql", User: url.UserPassword(user, claimstest.Password), Host: addr, Path: "/test"}
		u.RawQuery = strings.Join(params, "&")
		return u.String()
	}
	ca, pair := "ca="+a.File, "cert="+ours.Cert+"&key="+ours.Key
	const unknown = "certificate signed by unknown authority"
	claimstest.TestURLs(t, []claimstest.URLRow{
		{Name: "the authority", URL: at("encrypted", good, ca)},
		{Name: "said twice", URL: at("encrypted", good, ca, "tls=true")},
		{Name: "by its other name", URL: at("encrypted", named, ca, "servername=db.example")},
		{Name: "a certificate of ours", URL: at("certified", good, ca, pair)},
		{Name: "whoever it is", URL: at("encrypted", old, "tls=skip-verify")},
		{Name: "encrypted if it can be", URL: at("encrypted", good, "tls=preferred")},
		{Name: "more time", URL: at("encrypted", good, ca, "connecttimeout=20s")},
		{Name: "an unknown authority", URL: at("encrypted", good, "tls=true"), Refusal: unknown},
		{Name: "another authority", URL: at("encrypted", good, "ca="+other.File), Refusal: unknown},
		{Name: "another name", URL: at("encrypted", named, ca), Refusal: "not localhost"},
		{
			Name: "another name that is given", URL: at("encrypted", good, ca, "servername=other.example"),
			Refusal: "not other.example",
		},
		{Name: "an expired certificate", URL: at("encrypted", old, ca), Refusal: "expired"},
		{Name: "a server without TLS", URL: at("encrypted", plain, ca), Refusal: "does not support"},
		{Name: "no certificate of ours", URL: at("certified", good, ca), Refusal: "Access denied"},
		{Name: "no TLS", URL: at("encrypted", good), Refusal: "Access denied"},
		{Name: "verified and not", URL: at("encrypted", good, ca, "tls=preferred"), Refusal: "does not verify"},
		{Name: "an unknown mode", URL: at("encrypted", good, "tls=custom"), Refusal: "skip-verify, preferred or false"},
		{Name: "half a pair", URL: at("encrypted", good, "cert="+ours.Cert), Refusal: "go together"},
		{Name: "no such file", URL: at("encrypted", good, "ca=/nowhere/ca.pem"), Refusal: "parameter ca"},
		{Name: "no certificate in it", URL: at("encrypted", good, "ca="+ours.Key), Refusal: "no certificate in PEM"},
		{Name: "an unknown parameter", URL: at("encrypted", good, "sslmode=require"), Refusal: "unknown parameter"},
		{Name: "no time", URL: at("encrypted", good, "connecttimeout=0s"), Refusal: "connecttimeout"},
	})
}

// A program that has not said how the SQL driver learns of certificates is told.
func TestTLSUnregistered(t *testing.T) { // not parallel
	sqllock.RegisterTLS(nil)
	defer sqllock.RegisterTLS(mysql.RegisterTLSConfig)
	_, err := drivertest.Open(t.Context(), "mysql://root@127.0.0.1:1/test?tls=true&servername=db.example")
	if err == nil || !strings.Contains(err.Error(), "sqllock.RegisterTLS(mysql.RegisterTLSConfig)") {
		t.Errorf("got %v", err)
	}
}
