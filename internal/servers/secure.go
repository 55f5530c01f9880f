package servers

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"slices"
	"testing"
)

// A Secure server speaks TLS, with a certificate of an authority that can be renewed while it runs.
type Secure struct {
	*Server
	TLSAddr   string // where it speaks TLS; where that is not Addr, it answers there without
	Authority *Authority
	// AsksClients says that it lets in only who has a certificate of the authority that is not revoked.
	AsksClients bool

	own    Certificate
	reread func(testing.TB)     // has it read its certificate again; nil where it does that for each connection
	greet  func(net.Conn) error // what comes before TLS on a connection; nil: nothing
}

// here is who servers on this machine are.
var here = Identity{Hosts: []string{"127.0.0.1"}}

// SecureRedis is [RedisAt] with TLS, at an address of its own.
func SecureRedis(t testing.TB, clock *Clock, args ...string) *Secure {
	t.Helper()
	a := NewAuthority(t)
	r := &Secure{TLSAddr: FreeAddr(t), Authority: a, own: a.Certify(t, here)}
	_, port, _ := net.SplitHostPort(r.TLSAddr)
	r.Server = RedisAt(t, clock, slices.Concat(args, []string{
		"--tls-port", port, "--tls-ca-cert-file", a.File, "--tls-auth-clients", "no",
		"--tls-cert-file", r.own.Both, "--tls-key-file", r.own.Both,
	})...)
	r.reread = func(t testing.TB) {
		r.RedisCommand(t, "CONFIG", "SET", "tls-cert-file", r.own.Both, "tls-key-file", r.own.Both)
	}
	return r
}

// SecureEtcd is [Etcd] with TLS, at an address of its own, for clients with a certificate of the same authority that is
// not revoked.
func SecureEtcd(t testing.TB) *Secure {
	t.Helper()
	a := NewAuthority(t)
	e := &Secure{TLSAddr: FreeAddr(t), Authority: a, AsksClients: true, own: a.Certify(t, here)}
	e.Server = start(t, etcdKind(t, etcdHealthy, func(s *Server) []string {
		return []string{
			"--listen-client-urls", "http://" + s.Addr + ",https://" + e.TLSAddr,
			"--advertise-client-urls", "https://" + e.TLSAddr, "--cert-file", e.own.Both, "--key-file", e.own.Both,
			"--client-cert-auth", "--trusted-ca-file", a.File, "--client-crl-file", a.Revoked,
		}
	}))
	return e
}

// SecureMariaDB is [MariaDB] with TLS for who asks for it.
func SecureMariaDB(t testing.TB) *Secure {
	t.Helper()
	a := NewAuthority(t)
	m := &Secure{Authority: a, own: a.Certify(t, here), greet: greetMySQL}
	m.Server = MariaDB(t, "--ssl-ca="+a.File, "--ssl-cert="+m.own.Both, "--ssl-key="+m.own.Both)
	m.TLSAddr = m.Addr
	statement := "FLUSH SSL"
	if _, ok := inPlaceOf(mySQL); ok {
		statement = "ALTER INSTANCE RELOAD TLS"
	}
	m.reread = func(t testing.TB) { execute(t, Databases[0].Pool(t, m.Addr), statement) }
	return m
}

// SecurePostgres is [PostgresAt] with TLS for who asks for it.
func SecurePostgres(t testing.TB, clock *Clock) *Secure {
	t.Helper()
	a := NewAuthority(t)
	p := &Secure{Authority: a, own: a.Certify(t, here), greet: greetPostgres}
	p.Server = start(t, onClock(t, withTLS(t, postgres(nil), p.own, a), clock))
	p.TLSAddr = p.Addr
	p.reread = func(t testing.TB) {
		p.kind.args(p.Server) // copies the files
		execute(t, Databases[1].Pool(t, p.Addr), "SELECT pg_reload_conf()")
	}
	return p
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Renew gives the server another certificate, and returns when those who connect see it. Connections stay.
func (s *Secure) Renew(t testing.TB) { s.becomes(t, here) }

// Expire gives the server a certificate that has expired, and returns when those who connect see it. Connections stay.
func (s *Secure) Expire(t testing.TB) {
	old := here
	old.Expired = true
	s.becomes(t, old)
}

func (s *Secure) becomes(t testing.TB, who Identity) {
	t.Helper()
	s.Authority.Renew(t, s.own, who)
	if s.reread != nil {
		s.reread(t)
	}
	want := s.own.Serial(t)
	waitFor(t, s.kind.name+" shows its new certificate", func(ctx context.Context) error {
		got, err := s.shows(ctx)
		if err == nil && got.Cmp(want) != 0 {
			err = fmt.Errorf("it shows that with the number %d, and not %d", got, want)
		}
		return err
	})
}
