package nemesis

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// A private server is reached by TLS, and trusted by who knows its authority.
type private struct {
	*servers.Secure
	line *proxy.Proxy        // all clients reach it over this
	own  servers.Certificate // of clients, for a server that asks for one
}

func newPrivate(t testing.TB, s *servers.Secure) private {
	p := private{Secure: s, line: proxy.New(t, s.TLSAddr)}
	if s.AsksClients {
		p.own = s.Authority.Certify(t, client)
	}
	return p
}

var client = servers.Identity{Name: "a client"}

// certificates are what may befall the server's certificate, and that of clients.
func (p private) certificates() []Fault {
	return []Fault{
		{Name: Renewed, Begin: func(t testing.TB) func() {
			p.renew(t)
			return func() {}
		}},
		{Name: Expired, Harm: Outage, Begin: func(t testing.TB) func() {
			p.Expire(t)
			p.line.Reset()
			return func() { p.renew(t) }
		}},
	}
}

// renew replaces all certificates, and breaks all connections off. With that which a client had until then nobody is
// let in any more.
func (p private) renew(t testing.TB) {
	if p.AsksClients {
		old := p.own.Serial(t)
		p.Authority.Renew(t, p.own, client)
		p.Authority.Revoke(t, old)
	}
	p.Renew(t)
	p.line.Reset()
}
