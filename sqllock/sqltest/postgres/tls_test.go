package postgres

import (
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/sqltest/claimstest"
)

// encrypted starts a server with a certificate, and tables that all its users may use.
func encrypted(t *testing.T, a *servers.Authority, own servers.Certificate) (addr string) {
	t.Helper()
	addr = servers.PostgresTLS(t, own, a).Addr
	trusted := "postgres://postgres@" + addr + "/postgres?sslmode=disable"
	if err := sqllock.MigrateURL(t.Context(), trusted); err != nil {
		t.Fatal(err)
	}
	db := database(t, trusted)
	for _, statement := range []string{
		"CREATE USER encrypted SUPERUSER PASSWORD '" + claimstest.Password + "'", "CREATE USER certified SUPERUSER",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return addr
}

// TLS to a server whose authority nobody else knows, or whose certificate is of another name or has expired.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := servers.NewAuthority(t)
	good := encrypted(t, a, a.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}}))
	old := encrypted(t, a, a.Certify(t, servers.Identity{Hosts: []string{"127.0.0.1"}, Expired: true}))
	plain := servers.Postgres(t).Addr
	ours := a.Certify(t, servers.Identity{Name: "certified"})
	other := servers.NewAuthority(t)
	named := strings.Replace(good, "127.0.0.1", "localhost", 1)

	at := func(user, addr string, params ...string) string {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(user, claimstest.Password), Host: addr}
		u.Path, u.RawQuery = "/postgres", strings.Join(params, "&")
		return u.String()
	}
	ca, pair := "sslrootcert="+a.File, "sslcert="+ours.Cert+"&sslkey="+ours.Key
	full := "sslmode=verify-full&" + ca
	const unknown = "certificate signed by unknown authority"
	const unasked = "without sslmode=verify-full"
	claimstest.TestURLs(t, []claimstest.URLRow{
		{Name: "the authority", URL: at("encrypted", good, full)},
		{Name: "whatever its name is", URL: at("encrypted", named, ca, "sslmode=verify-ca")},
		{Name: "required, with the authority", URL: at("encrypted", named, ca, "sslmode=require")},
		{Name: "a certificate of ours", URL: at("certified", good, full, pair)},
		{Name: "whoever it is", URL: at("encrypted", old, "sslmode=require")},
		{Name: "encrypted if it can be", URL: at("encrypted", old)},
		{Name: "more time", URL: at("encrypted", good, full, "connecttimeout=20s", "application_name=locks")},
		{Name: "an unknown authority", URL: at("encrypted", good, "sslmode=verify-full"), Refusal: unknown},
		{
			Name: "another authority", URL: at("encrypted", good, "sslmode=verify-ca&sslrootcert="+other.File),
			Refusal: unknown,
		},
		{Name: "another name", URL: at("encrypted", named, full), Refusal: "is not valid for any names"},
		{Name: "an expired certificate", URL: at("encrypted", old, full), Refusal: "expired"},
		{
			Name: "an expired certificate, whatever its name is", URL: at("encrypted", old, ca, "sslmode=verify-ca"),
			Refusal: "expired",
		},
		{Name: "a server without TLS", URL: at("encrypted", plain, "sslmode=require"), Refusal: "refused TLS"},
		{Name: "no certificate of ours", URL: at("certified", good, full), Refusal: "certificate"},
		{Name: "no TLS", URL: at("encrypted", good, "sslmode=disable"), Refusal: "pg_hba.conf rejects"},
		{Name: "an authority that is not asked", URL: at("encrypted", good, ca), Refusal: unasked},
		{Name: "nor when it is preferred", URL: at("encrypted", good, ca, "sslmode=prefer"), Refusal: unasked},
		{Name: "an unknown mode", URL: at("encrypted", good, "sslmode=full"), Refusal: "verify-full"},
		{Name: "half a pair", URL: at("encrypted", good, full, "sslcert="+ours.Cert), Refusal: "go together"},
		{
			Name: "no such file", URL: at("encrypted", good, "sslmode=verify-full&sslrootcert=/nowhere/ca.pem"),
			Refusal: "/nowhere/ca.pem",
		},
		{
			Name: "no certificate in it", URL: at("encrypted", good, "sslmode=verify-full&sslrootcert="+ours.Key),
			Refusal: "CA",
		},
		{Name: "an unknown parameter", URL: at("encrypted", good, "tls=true"), Refusal: "unknown parameter"},
		{Name: "no time", URL: at("encrypted", good, "connecttimeout=0s"), Refusal: "connecttimeout"},
	})
}
